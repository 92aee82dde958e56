import { LAUNCHED_SHARE } from './population.ts'
import type { Population } from './population.ts'
import { SeededRandom } from './random.ts'

const PARETO_EXPONENT = 1.1
/** Trades of the busiest launched token, as a multiple of the least busy one's. */
const LARGEST = 2000
/** Mean age of a trade for a token with 200 trades. Ages are exponential; each token has a lognormal factor. */
const LIFE_SECONDS = 15 * 60

/** The blocks in which each launched token is born and traded. Ages are exponential; busier tokens live longer. */
export interface Schedule {
  /** Launched tokens, numbered from 0, that are born in a block. */
  bornIn(block: number): readonly number[]
  /** Launched tokens that trade in a block, one entry per trade. */
  tradedIn(block: number): Int32Array
  /** Trades of all launched tokens within the span. */
  readonly trades: number
  /** Trades of each launched token, including those after the span. */
  readonly tradesOf: Int32Array
}

export function scheduleLaunches(population: Population, blocks: number, secondsPerBlock: number): Schedule {
  const { launched, size } = population
  const random = new SeededRandom(size.seed, 10)
  const tradesOf = tradeCounts(launched, size.trades, random)
  const born = Int32Array.from({ length: launched }, () => random.below(blocks))
  const planned = tradesOf.reduce((sum, count) => sum + count, 0)
  const blockOf = new Int32Array(planned)
  const starts = new Int32Array(blocks + 1)
  let place = 0
  for (let token = 0; token < launched; token++) {
    const count = tradesOf[token]!
    const lifeSeconds = LIFE_SECONDS * Math.exp(random.normal()) * Math.sqrt(count / 200)
    const lifeBlocks = lifeSeconds / secondsPerBlock
    for (let i = 0; i < count; i++) {
      const age = i === 0 ? 0 : Math.floor(lifeBlocks * random.exponential())
      const block = born[token]! + age
      blockOf[place++] = block
      if (block < blocks) starts[block + 1]!++
    }
  }
  for (let block = 0; block < blocks; block++) starts[block + 1]! += starts[block]!
  const tokens = sortedByBlock(tradesOf, blockOf, starts)
  const bornBy = new Map<number, number[]>()
  for (let token = 0; token < launched; token++) {
    const list = bornBy.get(born[token]!)
    if (list === undefined) bornBy.set(born[token]!, [token])
    else list.push(token)
  }
  return {
    bornIn: (block) => bornBy.get(block) ?? [],
    tradedIn: (block) => tokens.subarray(starts[block], starts[block + 1]),
    trades: tokens.length,
    tradesOf
  }
}

function tradeCounts(launched: number, trades: number, random: SeededRandom): Int32Array {
  const weights = Float64Array.from({ length: launched }, () =>
    Math.min(LARGEST, (1 - random.unit()) ** (-1 / PARETO_EXPONENT))
  )
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return Int32Array.from(weights, (weight) => Math.floor((weight * trades * LAUNCHED_SHARE) / sum))
}

/** Groups trades by block; trades after the last block are dropped. */
function sortedByBlock(tradesOf: Int32Array, blockOf: Int32Array, starts: Int32Array): Int32Array {
  const next = starts.slice()
  const tokens = new Int32Array(starts.at(-1)!)
  let place = 0
  for (const [token, count] of tradesOf.entries()) {
    for (let i = 0; i < count; i++) {
      const block = blockOf[place++]!
      if (block < starts.length - 1) tokens[next[block]!++] = token
    }
  }
  return tokens
}
