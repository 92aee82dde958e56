import type { EncodedEvent, LogChannel, LogPart } from '../../src/market/log.ts'
import type { BlockCommit } from '../../src/market/rows.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import { cash } from './trades.ts'

/** What the stream has sent of blocks, in memory: reads cost nothing, so that what remains is the way to the socket. */
export class MemoryLog {
  readonly #parts = new Map<LogChannel, LogPart[]>()

  keep(commit: BlockCommit): void {
    for (const part of encodeLog(commit, cash)) {
      const parts = this.#parts.get(part.channel)
      if (parts === undefined) this.#parts.set(part.channel, [part])
      else parts.push(part)
    }
  }

  /** As a store would: the parts after a cursor and up to another one, oldest first. */
  async read(
    channel: LogChannel,
    { from, until, limit }: { readonly from?: number; readonly until?: number; readonly limit: number }
  ): Promise<LogPart[]> {
    const parts = this.#parts.get(channel) ?? []
    const first = this.#firstAfter(parts, from ?? -1)
    return parts
      .slice(first, first + limit)
      .map(({ channel, slot, events }) => ({
        channel,
        slot,
        events: events.filter(({ cursor }) => cursor > (from ?? -1) && cursor <= (until ?? Infinity))
      }))
      .filter(({ events }) => events.length > 0)
  }

  #firstAfter(parts: readonly LogPart[], cursor: number): number {
    let [low, high] = [0, parts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (lastOf(parts[middle]!).cursor <= cursor) low = middle + 1
      else high = middle
    }
    return low
  }
}

const lastOf = ({ events }: LogPart): EncodedEvent => events.at(-1)!
