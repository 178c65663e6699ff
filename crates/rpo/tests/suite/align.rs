//! Aligning data of other files with the order of the model.

use ndarray::{Array2, array};
use proptest::prelude::*;
use rpo::core::Matrix;
use rpo::data::read::{ColumnType, Format, ReadOptions, Targets, read_from};
use rpo::data::{ClassColumn, Columns, Dataset, Layout, Names, Task};
use rpo::{MissingName, ModelError, Schema};
use std::borrow::Cow;

fn csv(text: &str, targets: Targets) -> Dataset {
    let options = ReadOptions {
        format: Format::Csv,
        targets,
        ..ReadOptions::default()
    };
    read_from(text.as_bytes(), &options).unwrap()
}

fn arff(text: &str) -> Dataset {
    read_from(
        text.as_bytes(),
        &ReadOptions {
            format: Format::Arff,
            ..ReadOptions::default()
        },
    )
    .unwrap()
}

fn dense(x: &Matrix) -> Array2<f32> {
    x.view().to_dense(usize::MAX).unwrap()
}

fn missing_name(name: &str) -> MissingName {
    MissingName {
        name: name.to_owned(),
        nearest: None,
    }
}

/// Several missing columns are listed, each with the most similar one that the model does not use.
#[test]
fn missing_columns_are_listed_with_those_that_may_be_meant() {
    let train = csv("width,height,a,b,c,d,e,y\n1,2,3,4,5,6,7,0\n", Targets::Last(1));
    let other = csv("Width,hight,y\n1,2,0\n", Targets::Last(1));
    let e = Schema::from(&train).align_features(&other).unwrap_err();
    assert_eq!(
        e.to_string(),
        "the data has no feature \"width\" (it has \"Width\"), \"height\" (it has \"hight\"), \"a\", \"b\", \"c\", \
         which the model needs (and lacks 2 more)"
    );
}

#[test]
fn columns_are_found_by_name() {
    let train = csv("a,b,c,y\n1,2,3,0\n", Targets::Last(1));
    let schema = Schema::from(&train);
    assert!(
        matches!(schema.align_features(&train), Ok(Cow::Borrowed(_))),
        "nothing is copied"
    );
    let other = csv("y,c,id,b,a\n1,3,99,2,1\n", Targets::None);
    assert_eq!(
        dense(&schema.align_features(&other).unwrap()),
        array![[1.0, 2.0, 3.0]]
    );
    let poor = csv("c,id\n3,99\n", Targets::None);
    assert_eq!(
        schema.align_features(&poor).unwrap_err(),
        ModelError::MissingColumn {
            what: "feature",
            missing: ["a", "b"].map(missing_name).into(),
            more: 0
        }
    );
}

#[test]
fn categories_are_found_as_numbers() {
    let read = |values: [&str; 3]| {
        let text: String = values.iter().map(|value| format!("{value},0\n")).collect();
        let options = ReadOptions {
            format: Format::Csv,
            targets: Targets::Last(1),
            types: [("kind".to_owned(), ColumnType::Category)].into(),
            ..ReadOptions::default()
        };
        read_from(format!("kind,y\n{text}").as_bytes(), &options).unwrap()
    };
    let schema = Schema::from(&read(["2", "3", "10"]));
    // As programs write integers in a column with a gap.
    let other = read(["10.0", "", "3.0"]);
    assert_eq!(schema.unseen_values(&other), Ok(Vec::new()));
    let found = dense(&schema.align_features(&other).unwrap());
    assert_eq!((found[[0, 0]], found[[2, 0]]), (2.0, 1.0));
    assert!(found[[1, 0]].is_nan());
    let unseen = schema.unseen_values(&read(["2.5", "2", "3"])).unwrap();
    assert_eq!((unseen[0].count, unseen[0].value.as_str()), (1, "2.5"));
}

#[test]
fn numbered_columns_are_counted() {
    let numbered = |p| {
        Dataset::new(
            Array2::zeros((1, p)).into(),
            array![[0.0, 1.0]].into(),
            Task::MultiLabel,
        )
        .unwrap()
    };
    let schema = Schema::from(&csv("a,b,c,x,y\n1,2,3,0,1\n", Targets::Last(2)));
    assert!(schema.align_features(&numbered(3)).is_ok());
    let (what, expected, given) = ("feature", 3, 2);
    assert_eq!(
        schema.align_features(&numbered(2)).unwrap_err(),
        ModelError::ColumnCount {
            what,
            expected,
            given
        }
    );
    // Conversely, names that are numbers are positions.
    let schema = Schema::from(&numbered(2));
    let named = csv("1,0\n5,6\n", Targets::None);
    assert_eq!(dense(&schema.align_features(&named).unwrap()), array![[6.0, 5.0]]);
}

#[test]
fn outputs_must_be_the_models() {
    let schema = Schema::from(&csv("a,x,y\n1,0,1\n", Targets::Last(2)));
    let swapped = csv("y,x,a\n1,0,7\n", Targets::First(2));
    assert_eq!(
        dense(&schema.align_outputs(&swapped).unwrap()),
        array![[0.0, 1.0]]
    );
    let fewer = csv("a,x\n1,0\n", Targets::Last(1));
    assert!(matches!(
        schema.align_outputs(&fewer),
        Err(ModelError::MissingColumn { what: "output", .. })
    ));
    let more = csv("a,x,y,z\n1,0,1,1\n", Targets::Last(3));
    let name = "z".to_owned();
    assert_eq!(
        schema.align_outputs(&more).unwrap_err(),
        ModelError::UnknownOutput { name }
    );
    let numbers = csv("a,x,y\n1,0.5,1\n", Targets::Last(2));
    assert!(matches!(
        schema.align_outputs(&numbers),
        Err(ModelError::Task { .. })
    ));
}

const TRAIN: &str =
    "@relation r\n@attribute size {small, large}\n@attribute flag {0,1}\n@attribute w real\n@data\n";

#[test]
fn nominal_values_are_translated() {
    let schema = Schema::from(&arff(&format!("{TRAIN}large,1,2\n")));
    let other =
        "@relation r\n@attribute flag {1,0}\n@attribute w real\n@attribute size {huge,large,small}\n@data\n";
    let rows = format!("{other}1,5,large\n0,?,small\n?,7,?\n");
    let expected = array![[1.0, 1.0, 5.0], [0.0, 0.0, f32::NAN], [f32::NAN, f32::NAN, 7.0]];
    let found = dense(&schema.align_features(&arff(&rows)).unwrap());
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    // A value that a sparse row omits is the first declared value.
    let sparse = arff(&format!("{other}{{1 5, 2 large}}\n{{0 0, 2 small}}\n"));
    let expected = array![[1.0, 1.0, 5.0], [0.0, 0.0, 0.0]];
    assert_eq!(dense(&schema.align_features(&sparse).unwrap()), expected);
    let unknown = arff(&format!("{other}1,5,large\n1,5,huge\n"));
    for layout in [Layout::Dense, Layout::Sparse] {
        let unknown = unknown.clone().with_layout(layout, usize::MAX).unwrap();
        let found = dense(&schema.align_features(&unknown).unwrap());
        assert_eq!(found[[0, 0]], 1.0);
        assert!(found[[1, 0]].is_nan());
        let found = schema.unseen_values(&unknown).unwrap();
        let [unseen] = &found[..] else { panic!("{found:?}") };
        assert_eq!((unseen.feature.as_str(), unseen.value.as_str()), ("size", "huge"));
        assert_eq!((unseen.sample, unseen.count), (1, 1));
    }
    assert_eq!(schema.unseen_values(&arff(&rows)), Ok(Vec::new()));
}

#[test]
fn a_file_is_read_with_the_types_of_a_model() {
    let columns = "size,since,at,w,y\n";
    let train = csv(
        &format!("{columns}small,2024-01-31,2024-01-31T06:00,1,1\nlarge,2024-02-01,2024-02-01T18:00,2,0\n"),
        Targets::Last(1),
    );
    let schema = Schema::from(&train);
    // Nothing in this file shows that these columns are words, and dates with a time.
    let options = ReadOptions {
        format: Format::Csv,
        types: schema.read_options().unwrap().types,
        ignore_untyped: true,
        ..ReadOptions::default()
    };
    let text = "at,other,w,size,since\n2024-01-31,?,3,7,\n2024-01-31,?,3,,\n";
    let new = read_from(text.as_bytes(), &options).unwrap();
    let found = dense(&schema.align_features(&new).unwrap());
    let expected = array![
        f32::NAN,
        f32::NAN,
        f32::NAN,
        f32::NAN,
        19_753.0,
        1.0,
        3.0,
        0.0,
        3.0
    ];
    assert_eq!(format!("{:?}", found.row(0)), format!("{:?}", expected.view()));
    assert_eq!(schema.unseen_values(&new).unwrap()[0].value, "7");
    // A column with only missing values is accepted as either kind.
    let text = "at,w,size,since\n2024-01-31,3,,\n";
    let new = read_from(text.as_bytes(), &options).unwrap();
    assert!(dense(&schema.align_features(&new).unwrap())[[0, 0]].is_nan());
}

#[test]
fn a_number_stands_for_a_nominal_value_only_where_it_is_its_position() {
    let schema = Schema::from(&arff(&format!("{TRAIN}large,1,2\n")));
    let flag = "@relation r\n@attribute size {small, large}\n@attribute flag real\n@attribute w {0,1,2}\n@data\nsmall,1,2\n";
    assert_eq!(
        dense(&schema.align_features(&arff(flag)).unwrap()),
        array![[0.0, 1.0, 2.0]]
    );
    let numbers = csv("size,flag,w\n1,1,2\n", Targets::None);
    assert_eq!(
        schema.align_features(&numbers).unwrap_err(),
        ModelError::Kind {
            name: "size".into(),
            expected: "nominal",
            given: "numeric"
        }
    );
}

#[test]
fn features_named_like_the_parts_of_a_date_are_numbers() {
    let parts = "t[days],t[month],t[weekday]";
    let types = |text: &str| {
        let schema = Schema::from(&csv(text, Targets::Last(1)));
        let types = schema.read_options().unwrap().types;
        let types = types.into_iter().map(|(name, kind)| format!("{name} {kind}"));
        types.collect::<Vec<_>>()
    };
    let expected = ["t[days] number", "t[month] number", "t[weekday] number"];
    assert_eq!(types(&format!("{parts},y\n19723,1,1,0\n")), expected);
    assert_eq!(types("t,y\n2024-01-01,0\n"), ["t date"]);
    let schema = Schema::from(&csv("t,w,y\n2024-01-01,1,0\n", Targets::Last(1)));
    let lacking = csv("w\n1\n", Targets::None);
    assert_eq!(
        schema.align_features(&lacking).unwrap_err().to_string(),
        "the data has no column \"t\", which the model needs"
    );
}

/// A number is accepted as a position in the model's list only if the list has that position.
#[test]
fn numbers_of_nominal_features_are_looked_up() {
    let train = arff("@relation r\n@attribute a numeric\n@attribute b {0,1,2}\n@data\n0,0\n");
    let schema = Schema::from(&train);
    for layout in [Layout::Dense, Layout::Sparse] {
        let read = |text: &str| csv(text, Targets::None).with_layout(layout, usize::MAX).unwrap();
        let good = schema
            .align_features(&read("b,a\n2,7\n,8\n"))
            .unwrap()
            .into_owned();
        assert_eq!(dense(&good)[[0, 1]], 2.0);
        for value in ["3", "-1", "0.5"] {
            let data = read(&format!("b,a\n2,7\n{value},8\n"));
            let found = schema.align_features(&data);
            let expected = ModelError::UnknownValue {
                row: 1,
                name: "b".into(),
                value: value.into(),
            };
            assert_eq!(found, Err(expected));
        }
    }
}

proptest! {
    /// Sparse and dense data align to the same matrix.
    #[test]
    fn layouts_agree(values in proptest::collection::vec(-1_i8..3, 12), order in Just(vec![0, 1, 2, 3]).prop_shuffle()) {
        let x = Array2::from_shape_vec((3, 4), values.into_iter().map(f32::from).collect()).unwrap();
        let names = |order: &[usize]| order.iter().map(|j| format!("f{j}")).collect();
        let data = |x: Array2<f32>, order: &[usize]| {
            let y = Array2::zeros((3, 1));
            Dataset::new(x.into(), y.into(), Task::Regression).unwrap().with_names(Columns::Features, names(order)).unwrap()
        };
        let schema = Schema::from(&data(x.clone(), &[0, 1, 2, 3]));
        let shuffled = data(x.select(ndarray::Axis(1), &order), &order);
        prop_assert_eq!(&dense(&schema.align_features(&shuffled).unwrap()), &x);
        let sparse = shuffled.with_layout(Layout::Sparse, usize::MAX).unwrap();
        let aligned = schema.align_features(&sparse).unwrap();
        prop_assert!(matches!(aligned.as_ref(), Matrix::Sparse(_)));
        prop_assert_eq!(&dense(&aligned), &x);
    }
}

#[test]
fn classes_are_found_by_their_column_whatever_their_outputs_are_called() {
    let column = ClassColumn {
        name: "grade".into(),
        first: 0,
        classes: vec!["bronze".into(), "gold".into()],
    };
    let outputs = array![[1.0, 0.0], [0.0, 1.0]];
    let train = Dataset::new(array![[0.5], [0.1]].into(), outputs.into(), Task::MultiLabel).unwrap();
    let train = train
        .with_names(Columns::Features, Names::Given(vec!["x".into()]))
        .unwrap();
    let names = Names::Given(vec!["bronze".into(), "gold".into()]);
    let train = train.with_names(Columns::Outputs, names).unwrap();
    let schema = Schema::from(&train.with_class_columns(vec![column]).unwrap());
    let table = csv("x,grade\n1,gold\n2,bronze\n3,gold\n", Targets::Last(1));
    assert_eq!(table.output_names().get(0).unwrap(), "grade=bronze");
    let aligned = schema.align_outputs(&table).unwrap();
    assert_eq!(dense(&aligned), array![[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]);
    let other = csv("x,grade\n1,gold\n2,iron\n", Targets::Last(1));
    assert!(schema.align_outputs(&other).is_err());
}
