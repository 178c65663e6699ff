//! Vector instructions, chosen when the program runs.

/// Runs `f` compiled for the widest vector instructions that both the processor and this build know (AVX2 on x86-64).
///
/// Only what is inlined into `f` is compiled for them: `f` is a closure marked `#[inline(always)]`, as are the functions
/// that it calls. Operations on numbers are neither fused nor reordered, so that the result is the same, bit for bit, on
/// every processor.
///
/// ```
/// let (x, y) = ([0.5_f32; 20], [3.0_f32; 20]);
/// let mut sums = [0.0_f32; 20];
/// rpo_core::vectorized(
///     #[inline(always)]
///     || sums.iter_mut().zip(x.iter().zip(&y)).for_each(|(sum, (x, y))| *sum += x * y),
/// );
/// assert_eq!(sums, [1.5; 20]);
/// ```
#[inline(always)]
pub fn vectorized<R>(f: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(f)
}
