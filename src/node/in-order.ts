/**
 * Runs `start` for several items at once and yields the results in the order of the items. At most `limit` results
 * are in flight or waiting for the reader. When the reader stops, running work continues until its signal ends it.
 */
export async function* inOrder<T, R>(
  items: AsyncIterator<T>,
  limit: number,
  start: (item: T) => Promise<R>
): AsyncGenerator<R> {
  const running: Promise<R>[] = []
  let next: Promise<IteratorResult<T>> | null = null
  let isOver = false
  try {
    for (;;) {
      if (!isOver && running.length < limit) next ??= items.next()
      const [first] = running
      if (first === undefined && next === null) return
      // Null: the first result is ready, and no further item has come before it.
      let item: IteratorResult<T> | null = null
      if (first === undefined) item = await next
      else if (next !== null) item = await Promise.race([next, first.then(() => null)])
      if (item === null) {
        yield await running.shift()!
        continue
      }
      next = null
      if (item.done === true) isOver = true
      else {
        const doing = start(item.value)
        // The promise is awaited later, in order. Until then a rejection must not count as unhandled.
        doing.catch(() => undefined)
        running.push(doing)
      }
    }
  } finally {
    next?.catch(() => undefined)
    void items.return?.().catch(() => undefined)
  }
}
