import type { Test } from 'tap'
import type { DecodedBlock } from '../../src/market/block.ts'
import { marketApp, type MarketApp } from './market-app.ts'
import { MarketOracle } from '../data/market-oracle.ts'

/** Commits a chain block by block, and compares the app with the oracle at the selected heads. */
export async function followMarket(
  t: Test,
  chain: readonly DecodedBlock[],
  heads: (index: number) => boolean,
  compare: (t: Test, app: MarketApp, oracle: MarketOracle) => Promise<void>
): Promise<void> {
  const app = await marketApp(t)
  const oracle = new MarketOracle()
  for (const [index, block] of chain.entries()) {
    await app.commit(block)
    oracle.add(block)
    if (heads(index)) await compare(t, app, oracle)
  }
}

/** Returns whether two numbers are equal up to the rounding of sums and `slack`. */
export const isNear = (a: number | null | undefined, b: number | null, slack = 0): boolean =>
  a === b || (typeof a === 'number' && b !== null && Math.abs(a - b) <= 1e-9 * Math.abs(b) + slack)
