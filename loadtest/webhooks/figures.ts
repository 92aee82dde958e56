/** Returns mean, median and 99th percentile. */
export const summaryOf = (values: readonly number[]) =>
  weightedSummary(values.map((value): [number, number] => [value, 1]))

/** Returns the summary of values that count several times. */
export function weightedSummary(values: readonly (readonly [value: number, weight: number])[]) {
  const sorted = values.toSorted(([a], [b]) => a - b)
  const count = sorted.reduce((sum, [, weight]) => sum + weight, 0)
  const at = (part: number): number => {
    let passed = 0
    return (sorted.find(([, weight]) => (passed += weight) > count * part) ?? sorted.at(-1)!)[0]
  }
  const mean = sorted.reduce((sum, [value, weight]) => sum + value * weight, 0) / count
  return { count, mean, p50: at(0.5), p99: at(0.99) }
}
