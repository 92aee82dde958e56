import { isZeroPubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { ratio } from '../../market/amount.ts'
import { curveCourse, forSaleOf } from '../../market/curve-course.ts'
import type { CurveStatus } from '../../market/registry-rows.ts'
import { isKind, keyAt, u128At, u64At } from '../account-fields.ts'
import type { AccountSet } from '../account-set.ts'
import type { Account } from '../ports.ts'
import { refused, type Refused } from '../refused.ts'
import type { PoolState } from './pool-state.ts'

// Sources: pump-fun/pump-public-docs; Raydium's LaunchLab interface 0.2.0; MeteoraAg/dynamic-bonding-curve 0.1.10;
// IDL_V4 of @wen-moon-ser/moonshot-sdk.

const NO_LAUNCHPAD = refused('is not a curve of its launchpad')

/** Offset of the virtual quote at the start, which accounts since 2026 state. */
const PUMPFUN_START_QUOTE = 142

/**
 * Reads a curve of Pump.fun, of any version of its account. The account does not name the token. Its course follows
 * from the start that the program gives every curve.
 */
export function readPumpfunCurve({ data }: Account): PoolState | Refused {
  if (!isKind(data, '17b7f83760d8ac60', 49)) return NO_LAUNCHPAD
  const [virtualBase, virtualQuote, realBase, realQuote] = reserves(data, 8)
  const named = data.length >= 115 ? keyAt(data, 83) : NATIVE_MINT
  const quote = isZeroPubkey(named) ? NATIVE_MINT : named
  const isComplete = data[48] === 1
  const all = { virtualBase, virtualQuote, realBase, realQuote }
  const stated = data.length >= PUMPFUN_START_QUOTE + 8 ? u64At(data, PUMPFUN_START_QUOTE) : 0n
  const course = curveCourse(all, forSaleOf('pumpfun', null, all), stated === 0n ? null : stated)
  return {
    kind: 'pool',
    sides: [
      { mint: null, vault: null, reserve: realBase },
      { mint: quote, vault: null, reserve: realQuote }
    ],
    curve: {
      status: isComplete ? 'graduating' : 'bonding',
      reserves: all,
      progressPct: isComplete ? 100 : (course?.progressPct ?? null),
      targetQuote: course?.targetQuote ?? null,
      sqrtPrice: null
    }
  }
}

const LAUNCHLAB_STATUSES: readonly CurveStatus[] = ['bonding', 'graduating', 'graduated']
/** Curve type of a constant product, in the configuration of LaunchLab. */
const CONSTANT_PRODUCT = 0

/**
 * Reads a curve of Raydium LaunchLab. The account counts the tokens sold and the funds raised. Its virtual reserves
 * give a price only with the constant product, as the configuration states.
 */
export function readLaunchlabCurve({ data }: Account, accounts: AccountSet): PoolState | Refused {
  if (!isKind(data, 'f7ede3f5d7c3de46', 429)) return NO_LAUNCHPAD
  const status = LAUNCHLAB_STATUSES[data[17]!]
  if (status === undefined) return refused(`has status ${data[17]}`)
  const [forSale, startBase, startQuote, sold] = reserves(data, 29)
  const raised = u64At(data, 61)
  if (sold > forSale) return refused('has sold more than it had')
  const config = accounts.get(keyAt(data, 141))
  const isProduct =
    config !== null && isKind(config.data, '95089ccaa0fcb0d9', 17) && config.data[16] === CONSTANT_PRODUCT
  const virtual =
    isProduct && sold < startBase ? { virtualBase: startBase - sold, virtualQuote: startQuote + raised } : {}
  const isOver = status === 'graduated'
  return {
    kind: 'pool',
    sides: [
      { mint: keyAt(data, 205), vault: keyAt(data, 269), reserve: isOver ? null : forSale - sold },
      { mint: keyAt(data, 237), vault: keyAt(data, 301), reserve: isOver ? null : raised }
    ],
    curve: {
      status,
      reserves: { realBase: forSale - sold, realQuote: raised, ...virtual },
      progressPct: status === 'bonding' ? (forSale === 0n ? null : 100 * ratio(sold, forSale)) : 100,
      targetQuote: u64At(data, 69),
      sqrtPrice: null
    }
  }
}

/** Statuses by `migration_progress`: before the end, after it, vested tokens locked, pool created. */
const DBC_STATUSES: readonly CurveStatus[] = ['bonding', 'graduating', 'graduating', 'graduated']

/**
 * Reads a curve of Meteora DBC, with or without transfer hook. Its segments are in the configuration, which also
 * names the quote and the amount of it that completes the curve. The progress is the raised part of that amount.
 */
export function readDbcCurve({ data }: Account, accounts: AccountSet): PoolState | Refused {
  if (!isKind(data, 'd5e005d16245775c', 424) && !isKind(data, 'eddbb8172abda923', 424)) return NO_LAUNCHPAD
  const status = data[305] === 1 ? 'graduated' : DBC_STATUSES[data[308]!]
  if (status === undefined) return refused(`has migration progress ${data[308]}`)
  const config = accounts.get(keyAt(data, 72))
  if (config === null || !isKind(config.data, '1a6c0e7b74e6812b', 1048))
    return refused('names a configuration that cannot be read')
  const [realBase, realQuote] = reserves(data, 232)
  const target = u64At(config.data, 264)
  const isOver = status === 'graduated'
  const root = u128At(data, 280)
  const raised = target === 0n ? null : Math.min(100, 100 * ratio(realQuote, target))
  return {
    kind: 'pool',
    sides: [
      { mint: keyAt(data, 136), vault: keyAt(data, 168), reserve: isOver ? null : realBase },
      { mint: keyAt(config.data, 8), vault: keyAt(data, 200), reserve: isOver ? null : realQuote }
    ],
    curve: {
      status,
      reserves: { realBase, realQuote },
      progressPct: status === 'bonding' ? raised : 100,
      targetQuote: target === 0n ? null : target,
      sqrtPrice: root === 0n ? null : root
    }
  }
}

/** Curve type of Moonshot's first constant product, and its virtual reserves at the start: tokens of 9 decimals, lamports. */
const MOONSHOT_PRODUCT = 1
const MOONSHOT_TOKENS = 1_073_000_000_000_000_000n
const MOONSHOT_LAMPORTS = 30_000_000_000n

/**
 * Reads a curve of Moonshot in SOL. The account states the remaining tokens. With the constant product of version 1
 * the tokens determine the lamports; with other curves they do not. The market capitalisation at which the curve
 * completes is not computed.
 */
export function readMoonshotCurve({ data }: Account): PoolState | Refused {
  if (!isKind(data, '085b531c84d8f816', 82)) return NO_LAUNCHPAD
  if (data[57] !== 0) return refused(`is paid in currency ${data[57]}`)
  const [supply, held] = reserves(data, 8)
  if (held > supply) return refused('holds more than the supply')
  const sold = supply - held
  const isProduct = data[58] === MOONSHOT_PRODUCT && data[56] === 9 && sold < MOONSHOT_TOKENS
  const virtualBase = MOONSHOT_TOKENS - sold
  const virtualQuote = isProduct ? (MOONSHOT_TOKENS * MOONSHOT_LAMPORTS) / virtualBase : 0n
  // A curve that holds no more tokens has migrated.
  const isOver = held === 0n
  const known = isProduct && !isOver
  const realQuote = known ? virtualQuote - MOONSHOT_LAMPORTS : null
  return {
    kind: 'pool',
    sides: [
      { mint: keyAt(data, 24), vault: null, reserve: isOver ? null : held },
      { mint: NATIVE_MINT, vault: null, reserve: realQuote }
    ],
    curve: {
      status: isOver ? 'graduated' : 'bonding',
      reserves: {
        realBase: held,
        ...(realQuote !== null && { realQuote, virtualBase, virtualQuote })
      },
      progressPct: isOver ? 100 : null,
      targetQuote: null,
      sqrtPrice: null
    }
  }
}

/** Reads four consecutive u64 fields. */
const reserves = (data: Uint8Array, at: number): [bigint, bigint, bigint, bigint] => [
  u64At(data, at),
  u64At(data, at + 8),
  u64At(data, at + 16),
  u64At(data, at + 24)
]
