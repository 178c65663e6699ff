//! Starts: k-means++.

use super::points::Points;
use super::workspace::{SeedingBuffers, Workspace};
use super::{Geometry, KMeansParams, length};
use rand::Rng;
use rpo_core::{Seed, StreamRng, vectorized};

/// Differences below this fraction of their terms are rounding errors: the rows coincide.
const ROUNDING: f64 = 1e-14;

impl KMeansParams {
    /// Chooses rows for the centres to start from: fewer than k if the others coincide with them.
    pub(super) fn seed_centres(&self, points: &Points, seed: Seed, work: &mut Workspace) {
        let geometry = self.geometry;
        let SeedingBuffers {
            newest,
            products,
            nearest,
            chosen,
        } = &mut work.seeding;
        newest.clear();
        newest.resize(points.names().len(), 0.0);
        nearest.clear();
        nearest.resize(points.len(), f64::INFINITY);
        chosen.clear();
        let mut rng = seed.stream();
        let mut pick = draw(&points.weights, &mut rng);
        while let Some(row) = pick {
            chosen.push(row);
            if chosen.len() == self.clusters {
                break;
            }
            approach(points, geometry, row, newest, products, nearest);
            let mass = nearest
                .iter()
                .zip(&points.weights)
                .map(|(&near, weight)| match geometry {
                    Geometry::Euclidean => near * weight,
                    Geometry::Spherical => near * near * weight,
                });
            pick = draw_from(mass, &mut rng);
        }
        let run = &mut work.run;
        run.clear(points, chosen.len());
        for (c, &row) in chosen.iter().enumerate() {
            let square = points.squares[row];
            let scale = match geometry {
                Geometry::Euclidean => {
                    run.offsets[c] = -square / 2.0;
                    1.0
                }
                Geometry::Spherical => length(square),
            };
            let (columns, values) = points.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                run.centres[column as usize * run.width + c] = f64::from(value) / scale;
            }
        }
        if let Some(images) = &points.images {
            images.through_and_back(&mut run.centres, run.width);
        }
    }
}

/// Takes a row as a new centre into account.
fn approach(
    points: &Points,
    geometry: Geometry,
    centre: usize,
    newest: &mut [f64],
    products: &mut Vec<f64>,
    nearest: &mut [f64],
) {
    let (columns, values) = points.row(centre);
    let spread = columns.iter().zip(values);
    spread.for_each(|(&j, &v)| newest[j as usize] = v.into());
    if let Some(images) = &points.images {
        images.through_and_back(newest, 1);
    }
    products.clear();
    products.extend((0..points.len()).map(|row| -> f64 {
        let (columns, values) = points.row(row);
        product(newest, columns, values)
    }));
    vectorized(
        #[inline(always)]
        || approach_by(points, geometry, centre, products, nearest),
    );
    if points.images.is_some() {
        newest.fill(0.0);
    }
    columns.iter().for_each(|&j| newest[j as usize] = 0.0);
}

/// The product of a row with a vector, summed in the order of the row.
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

/// The same, given the product of each row with the centre.
#[inline(always)]
fn approach_by(points: &Points, geometry: Geometry, centre: usize, products: &[f64], nearest: &mut [f64]) {
    let (centre_square, centre_length) = (points.squares[centre], points.lengths[centre]);
    let rows = products.iter().zip(points.squares.iter().zip(&points.lengths));
    for (near, (product, (&square, length))) in nearest.iter_mut().zip(rows) {
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
        *near = if far < *near { far } else { *near };
    }
}

/// An index with probability proportional to its mass; `None` if there is no mass.
fn draw(mass: &[f64], rng: &mut StreamRng) -> Option<usize> {
    draw_from(mass.iter().copied(), rng)
}

fn draw_from(mass: impl Iterator<Item = f64> + Clone, rng: &mut StreamRng) -> Option<usize> {
    let total: f64 = mass.clone().sum();
    let mut left = total * rng.r#gen::<f64>();
    let mut last = None;
    for (i, mass) in mass.enumerate().filter(|(_, mass)| *mass > 0.0) {
        last = Some(i);
        if left < mass {
            break;
        }
        left -= mass;
    }
    last
}
