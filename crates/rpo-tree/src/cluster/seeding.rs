//! Starts: k-means++, and the first assignment, which is a by-product.

use super::columns::Columns;
use super::points::Points;
use super::workspace::{TIE, Workspace};
use super::{Geometry, KMeansParams};
use rand::Rng;
use rpo_core::{Seed, StreamRng, vectorized};

/// Differences below this fraction of their terms are rounding errors: the rows coincide.
const ROUNDING: f64 = 1e-14;

/// Buffers of the seeding.
#[derive(Debug, Clone, Default)]
pub(super) struct SeedingBuffers {
    /// The entries of the columns, if centres store few columns.
    columns: Option<Columns>,
    /// The newest centre, by occurring column; zeros between calls, and unused if `columns` is set.
    newest: Vec<f64>,
    /// The product of each row with the newest centre.
    products: Vec<f64>,
    /// Squared distance, or one minus cosine, of each row to the nearest centre so far.
    nearest: Vec<f64>,
    /// The cluster of that centre.
    labels: Vec<u32>,
    /// Masses to which the drawing probabilities are proportional.
    mass: Vec<f64>,
}

impl KMeansParams {
    /// Chooses rows as initial centres, fewer than k if the other rows coincide with them, and assigns every row to the
    /// nearest of them. The centres themselves are not stored: they move next.
    pub(super) fn seed_centres(&self, points: &Points, seed: Seed, work: &mut Workspace) {
        let Workspace { run, seeding, .. } = work;
        seeding.nearest.clear();
        seeding.nearest.resize(points.len(), f64::INFINITY);
        seeding.labels.clear();
        seeding.labels.resize(points.len(), 0);
        let mut rng = seed.stream();
        let mut n_chosen = 0;
        let mut pick = draw(&points.weights, &mut rng);
        while let Some(row) = pick {
            seeding.approach(points, self.geometry, (n_chosen, row));
            n_chosen += 1;
            pick = if n_chosen < self.clusters {
                draw(&seeding.mass, &mut rng)
            } else {
                None
            };
        }
        run.clear(points, n_chosen);
        std::mem::swap(&mut run.labels, &mut seeding.labels);
        let nearest = seeding.nearest.iter().zip(&points.weights);
        let objective = nearest.map(|(near, weight)| match self.geometry {
            Geometry::Euclidean => near * weight,
            Geometry::Spherical => (1.0 - near) * weight,
        });
        run.history.push(objective.sum());
    }
}

impl SeedingBuffers {
    /// Prepares for other rows.
    pub(super) fn begin(&mut self, points: &Points) {
        /// Columns are used if at most one in this many cells is stored: products by columns come in no order.
        const SPARSE: usize = 4;
        let n_columns = points.names().len();
        let (n, n_cells) = (points.columns().len(), points.len() * n_columns);
        let is_sparse = points.images.is_none() && SPARSE * n <= n_cells && u32::try_from(n).is_ok();
        self.columns = is_sparse.then(|| {
            let mut columns = self.columns.take().unwrap_or_default();
            columns.assign(points);
            columns
        });
        if !is_sparse {
            self.newest.resize(n_columns, 0.0);
        }
    }

    /// Adds a row as the centre of a new cluster, and assigns the rows nearest to it.
    fn approach(&mut self, points: &Points, geometry: Geometry, (cluster, centre): (usize, usize)) {
        self.products.clear();
        match &self.columns {
            Some(held) => {
                self.products.resize(points.len(), 0.0);
                held.products(points.row(centre), &mut self.products);
            }
            None => self.products_with(points, centre),
        }
        self.mass.resize(points.len(), 0.0);
        vectorized(
            #[inline(always)]
            || self.approach_by_products(points, geometry, (cluster as u32, centre)),
        );
    }

    /// Computes the products of all rows with one of them, or of their images.
    fn products_with(&mut self, points: &Points, centre: usize) {
        let (columns, values) = points.row(centre);
        let spread = columns.iter().zip(values);
        spread.for_each(|(&j, &v)| self.newest[j as usize] = v.into());
        if let Some(images) = &points.images {
            images.through_and_back(&mut self.newest, 1);
        }
        let product = |row| {
            let (columns, values) = points.row(row);
            product(&self.newest, columns, values)
        };
        self.products.extend((0..points.len()).map(product));
        if points.images.is_some() {
            self.newest.fill(0.0);
        }
        columns.iter().for_each(|&j| self.newest[j as usize] = 0.0);
    }

    /// Adds a centre, given the product of each row with it.
    #[inline(always)]
    fn approach_by_products(&mut self, points: &Points, geometry: Geometry, (cluster, centre): (u32, usize)) {
        let (centre_square, centre_length) = (points.squares[centre], points.lengths[centre]);
        let rows = self.products.iter().zip(&points.squares).zip(&points.lengths);
        let found = self.nearest.iter_mut().zip(&mut self.mass).zip(&mut self.labels);
        let rows = rows.zip(&points.weights);
        for (((near, mass), label), (((product, &square), length), weight)) in found.zip(rows) {
            let (far, scale) = match geometry {
                Geometry::Euclidean => (square - 2.0 * product + centre_square, square + centre_square),
                Geometry::Spherical => {
                    let cosine = product / (length * centre_length);
                    // Rows without direction coincide.
                    let same = square == 0.0 && centre_square == 0.0;
                    (if same { 0.0 } else { 1.0 - cosine }, 1.0)
                }
            };
            let far = if far > ROUNDING * scale { far } else { 0.0 };
            *label = if far + TIE * scale < *near {
                cluster
            } else {
                *label
            };
            *near = if far < *near { far } else { *near };
            *mass = match geometry {
                Geometry::Euclidean => *near * weight,
                Geometry::Spherical => *near * *near * weight,
            };
        }
    }
}

/// Computes the product of a row with a vector, summed in the order of the row.
#[inline]
fn product(vector: &[f64], columns: &[u32], values: &[f32]) -> f64 {
    let (column_fours, columns) = columns.as_chunks::<4>();
    let (value_fours, values) = values.as_chunks::<4>();
    let term = |j: u32, v: f32| vector[j as usize] * f64::from(v);
    let mut sum = 0.0;
    for (columns, values) in column_fours.iter().zip(value_fours) {
        for i in 0..4 {
            sum += term(columns[i], values[i]);
        }
    }
    let rest = columns.iter().zip(values);
    rest.fold(sum, |sum, (&j, &v)| sum + term(j, v))
}

/// Number of masses summed side by side.
const LANES: usize = 8;

/// Number of masses summed as one block.
const BLOCK: usize = 8 * LANES;

/// Draws an index with probability proportional to its mass; returns `None` if there is no mass.
///
/// Summing the masses one after the other would wait for every addition, so they are summed by blocks, and the block is
/// drawn first.
fn draw(mass: &[f64], rng: &mut StreamRng) -> Option<usize> {
    vectorized(
        #[inline(always)]
        || {
            let total: f64 = mass.chunks(BLOCK).map(sum).sum();
            draw_at(mass, total * rng.r#gen::<f64>())
        },
    )
}

/// Returns the index at which the running sum of the masses exceeds `left`; the last index with mass if rounding leaves
/// none.
#[inline(always)]
fn draw_at(mass: &[f64], mut left: f64) -> Option<usize> {
    let last_with_mass = |mass: &[f64]| mass.iter().rposition(|&mass| mass > 0.0);
    for (block, first) in mass.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
        let sum = sum(block);
        if left < sum {
            let inside = block.iter().position(|&mass| {
                left -= mass;
                left < 0.0
            });
            let place = inside.or_else(|| last_with_mass(block));
            return place.map(|place| first + place);
        }
        left -= sum;
    }
    last_with_mass(mass)
}

#[inline(always)]
fn sum(mass: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (lanes, rest) = mass.as_chunks::<LANES>();
    for lanes in lanes {
        sums.iter_mut().zip(lanes).for_each(|(sum, mass)| *sum += mass);
    }
    sums.iter().chain(rest).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// With whole numbers, sums are exact: the drawn index is the first at which the running sum exceeds the number
        /// drawn.
        #[test]
        fn draws_are_those_of_running_sums(mass in proptest::collection::vec(0_u32..4, 1..300), part in 0.0..1.0) {
            let mass: Vec<f64> = mass.into_iter().map(f64::from).collect();
            let total: f64 = mass.iter().sum();
            let at = f64::floor(total * part);
            let mut running = 0.0;
            let expected = mass.iter().position(|mass| {
                running += mass;
                at < running
            });
            prop_assert_eq!(draw_at(&mass, at), expected);
        }

        /// Columns give the same products as rows.
        #[test]
        fn products_by_columns_are_those_by_rows(
            rows in proptest::collection::vec(proptest::collection::btree_map(0_u32..40, -3_i8..4, 0..4), 2..40),
        ) {
            let mut points = Points::new(40);
            for row in &rows {
                points.push(row.iter().map(|(&j, &v)| (j, f32::from(v))).collect::<Vec<_>>().into_iter(), 1.0);
            }
            let mut by_rows = SeedingBuffers { newest: vec![0.0; points.names().len()], ..SeedingBuffers::default() };
            let mut columns = Columns::default();
            columns.assign(&points);
            for centre in 0..rows.len() {
                by_rows.products.clear();
                by_rows.products_with(&points, centre);
                let mut products = vec![0.0; rows.len()];
                columns.products(points.row(centre), &mut products);
                prop_assert_eq!(&products, &by_rows.products);
            }
        }
    }
}
