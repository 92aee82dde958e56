/**
 * Runs work for each item, for `count` of them at a time, and yields each result once it is there. Begins no further item
 * once `end` aborts. Throws the first fault.
 */
export async function* asTheyEnd<Item, Result>(
  items: readonly Item[],
  count: number,
  work: (item: Item) => Promise<Result>,
  end: AbortSignal
): AsyncGenerator<Result> {
  const running = new Map<Item, Promise<readonly [Item, Result]>>()
  for (let next = 0; ;) {
    while (next < items.length && running.size < count && !end.aborted) {
      const item = items[next++]!
      running.set(
        item,
        work(item).then((result) => [item, result])
      )
    }
    if (running.size === 0) return
    const [item, result] = await Promise.race(running.values())
    running.delete(item)
    yield result
  }
}
