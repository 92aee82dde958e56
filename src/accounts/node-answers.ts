import type { EpochSchedule } from '../chain/epoch-schedule.ts'
import { pubkeyFromBase58, type Pubkey } from '../chain/pubkey.ts'
import { isCount, listOf, objectOf, Unreadable } from '../chain/rpc/fields.ts'
import type { ReadResult } from '../node/node-answers.ts'
import type { Account, AddressedAccount } from './ports.ts'

/** JSON.parse reads 2^64 - 1, the rent epoch of an account that pays no rent, as this double. */
const NO_RENT_AS_DOUBLE = 2 ** 64
const NO_RENT = 2n ** 64n - 1n

/**
 * Reads an account in encoding `base64`. Its data is complete unless `isSlice`. Throws Unreadable, also for lamports
 * that JSON.parse has rounded.
 */
export function readAccount(value: unknown, isSlice = false): Account {
  const { lamports, owner, executable, rentEpoch, data, space } = objectOf(value, 'account')
  if (typeof executable !== 'boolean') throw new Unreadable('executable')
  const bytes = readData(data)
  if (space !== undefined && !isSlice && space !== bytes.length) throw new Unreadable('space')
  return {
    lamports: amountOf(lamports, 'lamports'),
    owner: addressOf(owner, 'owner'),
    executable,
    rentEpoch: rentEpoch === NO_RENT_AS_DOUBLE ? NO_RENT : amountOf(rentEpoch, 'rentEpoch'),
    data: bytes
  }
}

/** Reads a list of accounts with their addresses. Throws Unreadable. */
export function readAddressed(value: unknown, isSlice = false): AddressedAccount[] {
  return listOf(value, 'accounts').map((each) => {
    const { pubkey, account } = objectOf(each, 'account')
    return { address: addressOf(pubkey, 'pubkey'), account: readAccount(account, isSlice) }
  })
}

/** Reads an epoch schedule. Throws Unreadable. */
export function readEpochSchedule(result: unknown): EpochSchedule {
  const { slotsPerEpoch, firstNormalEpoch, firstNormalSlot } = objectOf(result, 'result')
  if (!isCount(slotsPerEpoch) || slotsPerEpoch === 0) throw new Unreadable('slotsPerEpoch')
  if (!isCount(firstNormalEpoch)) throw new Unreadable('firstNormalEpoch')
  if (!isCount(firstNormalSlot)) throw new Unreadable('firstNormalSlot')
  return { slotsPerEpoch, firstNormalEpoch, firstNormalSlot }
}

/**
 * Makes a reader that parses the response again, with lamports as bigint, where JSON.parse has rounded them. That is far
 * slower than JSON.parse, so it is used only for answers with an account of more than 2^53 lamports (9 million SOL);
 * mainnet has a few.
 */
export const withExactLamports =
  <T>(read: (result: unknown) => T): ReadResult<T> =>
  (result, body) => {
    try {
      return read(result)
    } catch (error) {
      if (!(error instanceof Unreadable) || !error.isOutOfRange) throw error
      const { result: exact } = parseWithExactLamports(body.toString('utf8')) as { readonly result?: unknown }
      return read(exact)
    }
  }

/** Parses JSON with lamports as bigint. */
export function parseWithExactLamports(text: string): unknown {
  const exact = (key: string, value: unknown, { source }: { readonly source?: string }): unknown =>
    key === 'lamports' && source !== undefined && /^\d+$/.test(source) ? BigInt(source) : value
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown)
}

function readData(data: unknown): Uint8Array {
  const [text, encoding] = Array.isArray(data) ? (data as unknown[]) : []
  if (typeof text !== 'string' || encoding !== 'base64') throw new Unreadable('data')
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
  } catch {
    throw new Unreadable('data')
  }
}

function addressOf(value: unknown, field: string): Pubkey {
  if (typeof value !== 'string') throw new Unreadable(field)
  try {
    return pubkeyFromBase58(value)
  } catch {
    throw new Unreadable(field)
  }
}

function amountOf(value: unknown, field: string): bigint {
  if (typeof value === 'bigint') return value
  if (!isCount(value)) throw new Unreadable(field, typeof value === 'number')
  return BigInt(value)
}
