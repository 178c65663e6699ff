//! Values of a column of a record batch.

use crate::read::date::DAY;
use crate::read::number;
use crate::read::options::ColumnType;
use crate::read::typed::{Field, Items};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Date32Type, Date64Type,
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type, StringViewType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, GenericByteArray, GenericByteViewArray, GenericListArray, OffsetSizeTrait,
    PrimitiveArray,
};
use arrow_schema::{DataType, TimeUnit};

/// Nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;

/// Returns the column type for an Arrow data type; `None` for an unsupported type.
pub(super) fn column_type(of: &DataType) -> Option<ColumnType> {
    use DataType as D;
    Some(match of {
        D::Null | D::Boolean => ColumnType::Number,
        of if of.is_numeric() => ColumnType::Number,
        of if is_text(of) => ColumnType::Category,
        D::Date32 | D::Date64 => ColumnType::Date,
        D::Timestamp(..) => ColumnType::DateTime,
        // A column written as one of a few values is a category, except for dates, which have more than one feature.
        D::Dictionary(_, values) => match column_type(values)? {
            ColumnType::Number => ColumnType::Category,
            other => other,
        },
        _ => return None,
    })
}

/// Returns true for texts that are not those of a dictionary.
pub(super) fn is_text(of: &DataType) -> bool {
    use DataType as D;
    matches!(
        of,
        D::Utf8 | D::LargeUtf8 | D::Utf8View | D::Binary | D::LargeBinary | D::BinaryView
    )
}

/// Returns true for lists of values that can be read as text.
pub(super) fn is_list(of: &DataType) -> bool {
    match of {
        DataType::List(items) | DataType::LargeList(items) => {
            column_type(items.data_type()).is_some_and(|items| items != ColumnType::Number)
        }
        _ => false,
    }
}

/// The values of a column.
pub(super) trait Cells {
    /// Returns the value in a row.
    fn get(&self, row: usize) -> Field<'_>;
}

/// Returns the values of an array; `None` for an unsupported type.
pub(super) fn cells(array: &ArrayRef) -> Option<Box<dyn Cells>> {
    use DataType as D;
    fn time<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef, unit: i128) -> Box<dyn Cells> {
        primitive::<T>(array, move |value| time_field(i128::from(value) * unit, true))
    }
    Some(match array.data_type() {
        D::Null => Box::new(Missing),
        D::Boolean => Box::new(array.as_boolean().clone()),
        D::Int8 => primitive::<Int8Type>(array, |v| Field::Integer(v.into())),
        D::Int16 => primitive::<Int16Type>(array, |v| Field::Integer(v.into())),
        D::Int32 => primitive::<Int32Type>(array, |v| Field::Integer(v.into())),
        D::Int64 => primitive::<Int64Type>(array, |v| Field::Integer(v.into())),
        D::UInt8 => primitive::<UInt8Type>(array, |v| Field::Integer(v.into())),
        D::UInt16 => primitive::<UInt16Type>(array, |v| Field::Integer(v.into())),
        D::UInt32 => primitive::<UInt32Type>(array, |v| Field::Integer(v.into())),
        D::UInt64 => primitive::<UInt64Type>(array, |v| Field::Integer(v.into())),
        D::Float16 => primitive::<Float16Type>(array, |v| single(v.to_f32())),
        D::Float32 => primitive::<Float32Type>(array, single),
        D::Float64 => primitive::<Float64Type>(array, |v| match v.is_nan() {
            true => Field::Missing,
            false => Field::Number(v),
        }),
        D::Decimal32(_, scale) => decimal::<Decimal32Type>(array, *scale),
        D::Decimal64(_, scale) => decimal::<Decimal64Type>(array, *scale),
        D::Decimal128(_, scale) => decimal::<Decimal128Type>(array, *scale),
        D::Decimal256(_, scale) => decimal::<Decimal256Type>(array, *scale),
        D::Date32 => primitive::<Date32Type>(array, |days| time_field(i128::from(days) * DAY, false)),
        D::Date64 => primitive::<Date64Type>(array, |v| time_field(i128::from(v) * (SECOND / 1000), false)),
        D::Timestamp(TimeUnit::Second, _) => time::<TimestampSecondType>(array, SECOND),
        D::Timestamp(TimeUnit::Millisecond, _) => time::<TimestampMillisecondType>(array, SECOND / 1_000),
        D::Timestamp(TimeUnit::Microsecond, _) => time::<TimestampMicrosecondType>(array, SECOND / 1_000_000),
        D::Timestamp(TimeUnit::Nanosecond, _) => time::<TimestampNanosecondType>(array, 1),
        D::Utf8 => text::<Utf8Type>(array),
        D::LargeUtf8 => text::<LargeUtf8Type>(array),
        D::Binary => text::<BinaryType>(array),
        D::LargeBinary => text::<LargeBinaryType>(array),
        D::Utf8View => text_view::<StringViewType>(array),
        D::BinaryView => text_view::<BinaryViewType>(array),
        D::List(_) => lists::<i32>(array)?,
        D::LargeList(_) => lists::<i64>(array)?,
        D::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = cells(dictionary.values())?;
            Box::new(Dictionary {
                // No key is valid if there are no values.
                positions: match dictionary.values().is_empty() {
                    true => Vec::new(),
                    false => dictionary.normalized_keys(),
                },
                keys: array.clone(),
                values,
            })
        }
        _ => return None,
    })
}

/// Converts a 32-bit float; NaN is a missing value, as in data frames.
fn single(value: f32) -> Field<'static> {
    match value.is_nan() {
        true => Field::Missing,
        false => Field::Single(value),
    }
}

fn time_field(nanoseconds: i128, has_time: bool) -> Field<'static> {
    Field::Time {
        nanoseconds,
        has_time,
    }
}

struct Missing;

impl Cells for Missing {
    fn get(&self, _: usize) -> Field<'_> {
        Field::Missing
    }
}

impl Cells for BooleanArray {
    fn get(&self, row: usize) -> Field<'_> {
        match self.is_null(row) {
            true => Field::Missing,
            false => Field::Truth(self.value(row)),
        }
    }
}

struct Primitive<T: ArrowPrimitiveType, F> {
    array: PrimitiveArray<T>,
    field: F,
}

impl<T: ArrowPrimitiveType, F: Fn(T::Native) -> Field<'static>> Cells for Primitive<T, F> {
    fn get(&self, row: usize) -> Field<'_> {
        match self.array.is_null(row) {
            true => Field::Missing,
            false => (self.field)(self.array.value(row)),
        }
    }
}

fn primitive<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    field: impl Fn(T::Native) -> Field<'static> + 'static,
) -> Box<dyn Cells> {
    let array = array.as_primitive::<T>().clone();
    Box::new(Primitive { array, field })
}

/// Converts decimal numbers: to integers if there are no digits after the point, otherwise to the nearest float.
fn decimal<T: DecimalType>(array: &ArrayRef, scale: i8) -> Box<dyn Cells> {
    primitive::<T>(array, move |value| {
        let text = T::format_decimal(value, T::MAX_PRECISION, scale);
        match text.parse() {
            Ok(integer) => Field::Integer(integer),
            Err(_) => Field::Number(number::parse(text.as_bytes()).expect("digits are a number")),
        }
    })
}

impl<T: ByteArrayType> Cells for GenericByteArray<T> {
    fn get(&self, row: usize) -> Field<'_> {
        match self.is_null(row) {
            true => Field::Missing,
            false => Field::Text(self.value(row).as_ref()),
        }
    }
}

fn text<T: ByteArrayType>(array: &ArrayRef) -> Box<dyn Cells> {
    Box::new(array.as_bytes::<T>().clone())
}

impl<T: ByteViewType> Cells for GenericByteViewArray<T> {
    fn get(&self, row: usize) -> Field<'_> {
        match self.is_null(row) {
            true => Field::Missing,
            false => Field::Text(self.value(row).as_ref()),
        }
    }
}

fn text_view<T: ByteViewType>(array: &ArrayRef) -> Box<dyn Cells> {
    Box::new(array.as_byte_view::<T>().clone())
}

/// Dictionary-encoded values.
struct Dictionary {
    /// The position of each row's value; arbitrary where a key is missing.
    positions: Vec<usize>,
    keys: ArrayRef,
    values: Box<dyn Cells>,
}

impl Cells for Dictionary {
    fn get(&self, row: usize) -> Field<'_> {
        match self.positions.get(row) {
            Some(&position) if !self.keys.is_null(row) => self.values.get(position),
            _ => Field::Missing,
        }
    }
}

/// Lists of values.
struct Lists<O: OffsetSizeTrait> {
    array: GenericListArray<O>,
    items: Box<dyn Cells>,
}

fn lists<O: OffsetSizeTrait>(array: &ArrayRef) -> Option<Box<dyn Cells>> {
    let array = array.as_list::<O>().clone();
    let items = cells(array.values())?;
    Some(Box::new(Lists { array, items }))
}

impl<O: OffsetSizeTrait> Items for Lists<O> {
    fn item(&self, index: usize) -> Field<'_> {
        self.items.get(index)
    }
}

impl<O: OffsetSizeTrait> Cells for Lists<O> {
    fn get(&self, row: usize) -> Field<'_> {
        let offsets = self.array.value_offsets();
        match self.array.is_null(row) {
            true => Field::Missing,
            false => Field::List {
                items: self,
                start: offsets[row].as_usize(),
                end: offsets[row + 1].as_usize(),
            },
        }
    }
}
