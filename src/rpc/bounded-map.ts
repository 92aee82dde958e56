/** Maps items with at most a given number of calls of `map` in flight. Rejects as soon as one call does. */
export async function mapBounded<T, R>(
  items: readonly T[],
  inFlightMax: number,
  map: (item: T, at: number) => Promise<R>
): Promise<R[]> {
  const results: R[] = Array.from({ length: items.length })
  let next = 0
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++
      results[at] = await map(items[at]!, at)
    }
  }
  await Promise.all(Array.from({ length: Math.min(inFlightMax, items.length) }, work))
  return results
}
