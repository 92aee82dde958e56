export interface Point {
  readonly hour: number
  readonly value: number
}

/** Summarizes a series: first and last value, maximum, and least-squares slope per hour. */
export function seriesOf(points: readonly Point[]) {
  const mean = (of: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length
  const [hour, value] = [mean((point) => point.hour), mean((point) => point.value)]
  const spread = mean((point) => (point.hour - hour) ** 2)
  const slope = mean((point) => (point.hour - hour) * (point.value - value)) / spread
  return {
    first: points[0]!.value,
    last: points.at(-1)!.value,
    mean: value,
    largest: Math.max(...points.map((point) => point.value)),
    slope_per_hour: slope
  }
}
