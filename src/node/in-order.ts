/**
 * Does something with each item, several at once, and gives what came of it in the order of the items. At most `limit`
 * are under way or done and not yet taken. When the reader leaves, what is under way is left alone: its signal ends it.
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
      // Null: the first is done, and nothing else has come before.
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
        // It is awaited when its turn comes; until then its failure is not unhandled.
        doing.catch(() => undefined)
        running.push(doing)
      }
    }
  } finally {
    next?.catch(() => undefined)
    void items.return?.().catch(() => undefined)
  }
}
