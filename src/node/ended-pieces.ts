/**
 * Returns pieces whose `return` always calls `end` first. A generator that was never started runs no `finally`, so
 * the source of an unread answer would otherwise stay open.
 */
export function endedPieces(pieces: AsyncGenerator<Buffer>, end: () => unknown): AsyncGenerator<Buffer> {
  const finish = pieces.return.bind(pieces)
  return Object.assign(pieces, {
    return: async (value?: unknown) => {
      await end()
      return finish(value)
    }
  })
}

/** Ends a source of pieces that is not read to its end. */
export const endPieces = (source: AsyncIterable<Buffer>): Promise<unknown> | undefined =>
  source[Symbol.asyncIterator]().return?.()
