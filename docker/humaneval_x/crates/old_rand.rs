//! `rand` as the tests of Rust/50 know it: there `gen_range` takes two bounds, where newer ones take a range.

use rand::distributions::uniform::SampleUniform;
use rand::distributions::{Distribution, Standard};
pub use rand::{random, rngs, seq, thread_rng};

pub trait Rng {
    fn gen<T>(&mut self) -> T
    where
        Standard: Distribution<T>;

    fn gen_range<T: SampleUniform + PartialOrd>(&mut self, low: T, high: T) -> T;
}

impl<R: rand::Rng> Rng for R {
    fn gen<T>(&mut self) -> T
    where
        Standard: Distribution<T>,
    {
        rand::Rng::gen(self)
    }

    fn gen_range<T: SampleUniform + PartialOrd>(&mut self, low: T, high: T) -> T {
        rand::Rng::gen_range(self, low..high)
    }
}
