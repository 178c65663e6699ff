//! Vector instructions, chosen when the program runs.

/// Runs `f` compiled for the widest vector instructions that both the processor and this build support (AVX2 on
/// x86-64).
///
/// Only code that is inlined into `f` is compiled for them: mark the closure `f` and the functions that it calls
/// `#[inline(always)]`. Arithmetic is neither fused nor reordered, so that the result is the same, bit for bit, on
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
