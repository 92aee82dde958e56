import { pubkeyMapKey } from '../src/chain/pubkey.ts'
import { NameIndex } from '../src/data/name-index.ts'
import type { Volumes } from '../src/data/name-search.ts'
import { CashList } from '../src/market/cash.ts'
import { byVolume } from '../src/market/volume-order.ts'
import { WindowSums } from '../src/market/window-sums.ts'
import { numberedAddress } from './holder-list.ts'

const DAY_SECONDS = 86_400
/** One token in this many traded on the last day. */
const TRADED = 4
const WORDS = ['dog', 'cat', 'moon', 'pepe', 'coin', 'inu', 'baby', 'sol', 'elon', 'frog', 'king', 'meme']

/** Names of tokens, and the volumes that a search ranks them by. */
export interface SearchedNames {
  /** Searches as the endpoint does. Returns the number of names that were compared. */
  readonly search: (text: string) => number
  /** Begins the order of volume, which takes one pass over all tokens. */
  readonly beginOrder: () => void
}

/** Makes names of tokens, every second of which contains `coin`. */
export function searchedNames(count: number): SearchedNames {
  const index = new NameIndex({ bytesMax: 2 ** 30, cash: new CashList() })
  const sums = new WindowSums(DAY_SECONDS)
  const keys: string[] = []
  for (let n = 0; n < count; n++) {
    const mint = numberedAddress(7, n)
    const words = [n % 2 === 0 ? 'coin' : 'token', WORDS[n % WORDS.length]!, `${n}`]
    index.setLaunch({ mint, symbol: `${words[1]!.toUpperCase()}${n % 1_000}`, name: words.join(' ') })
    keys.push(pubkeyMapKey(mint))
    if (n % TRADED === 0) sums.change(n, { trades: 1, microUsd: BigInt(((n * 7_919) % 1_000_003) + 1) })
  }
  const numbers = new Map(keys.map((key, n) => [key, n]))
  const volumes: Volumes = {
    of: (key) => sums.of(numbers.get(key)!),
    *descending() {
      for (const number of byVolume(sums, count))
        yield number === null ? null : { mapKey: keys[number]!, microUsd: sums.microUsd(number) }
    }
  }
  return {
    search(text) {
      let compared = 0
      index.search(text, 20, volumes, (names) => (compared += names))
      return compared
    },
    beginOrder() {
      for (const first of byVolume(sums, count)) if (first !== null) return
    }
  }
}
