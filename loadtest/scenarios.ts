import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { USDC } from '../src/market/cash.ts'
import { SOL_SHARE, type Population } from './market/population.ts'
import type { SyntheticMarket } from './market/blocks.ts'
import { WeightedChoice, type SeededRandom } from './market/random.ts'

/** The requests of one kind of reader. */
export interface Scenario {
  readonly name: string
  /** One hot path. */
  readonly warm: string
  /** Draws a path with the distribution of the whole market's readers. */
  readonly draw: (random: SeededRandom) => string
  /** Returns at most `count` different paths, the hot ones among them. */
  readonly distinct: (count: number, random: SeededRandom) => string[]
}

/** The scenarios that the bars are stated for. Mints and wallets are drawn by their share of all trades. */
export function scenariosOf(market: SyntheticMarket): Scenario[] {
  const { population } = market
  const mint = mintDraw(market)
  const ofMint = (name: string, path: (mint: number) => string): Scenario => ({
    name,
    warm: path(1),
    draw: (random) => path(mint(random)),
    distinct: (count, random) => distinctOf(count, () => path(mint(random)))
  })
  const address = (index: number): string => pubkeyToBase58(population.mint(index))
  const token = (index: number): string => `/v1/tokens/${address(index)}`
  const wallet = (random: SeededRandom): string =>
    `/v1/wallets/${pubkeyToBase58(population.drawWallet(random))}/trades?limit=100`
  const launches = (offset: number): string =>
    `/v1/launches?limit=50${offset === 0 ? '' : `&offset=${offset}`}`
  return [
    ofMint('trades 100', (index) => `${token(index)}/trades?limit=100`),
    ofMint('trades 1,000', (index) => `${token(index)}/trades?limit=1000`),
    ofMint('candles 300', (index) => `${token(index)}/candles?interval=1m&limit=300${cashOf(index)}`),
    ofMint('price', (index) => `${token(index)}/price`),
    ofMint('overview', token),
    {
      name: 'launches 50',
      warm: launches(0),
      draw: (random) => launches(50 * Math.floor(2 * random.exponential())),
      distinct: (count) => Array.from({ length: count }, (_, i) => launches(i * 9))
    },
    {
      name: 'trending 20',
      warm: '/v1/trending?limit=20',
      draw: (random) => trending(random.pick(WINDOWS), random.pick([20, 20, 50, 100])),
      distinct: (count) =>
        WINDOWS.flatMap((window) => Array.from({ length: 100 }, (_, i) => trending(window, i + 1))).slice(
          0,
          count
        )
    },
    {
      name: 'wallet trades 100',
      warm: `/v1/wallets/${pubkeyToBase58(population.wallet(0))}/trades?limit=100`,
      draw: wallet,
      distinct: (count, random) => distinctOf(count, () => wallet(random))
    }
  ]
}

const WINDOWS = ['1h', '4h', '24h']

function trending(window: string, limit: number): string {
  return `/v1/trending?window=${window}&limit=${limit}`
}

/** The query field for SOL, whose candles are in USDC; empty for other mints. */
function cashOf(mint: number): string {
  return mint === 0 ? `&cash=${USDC}` : ''
}

function mintDraw({ population, launchedTrades }: SyntheticMarket): (random: SeededRandom) => number {
  const launched = new WeightedChoice(launchedTrades)
  const part = partOf(launchedTrades, population)
  return (random) => {
    if (random.chance(part)) return population.standing + launched.draw(random)
    return random.chance(SOL_SHARE / (1 - part)) ? 0 : population.drawStanding(random)
  }
}

function partOf(trades: Int32Array, { size }: Population): number {
  return Math.min(0.5, trades.reduce((sum, count) => sum + count, 0) / size.trades)
}

function distinctOf(count: number, draw: () => string): string[] {
  const paths = new Set<string>()
  for (let tries = 0; paths.size < count && tries < count * 100; tries++) paths.add(draw())
  return [...paths]
}
