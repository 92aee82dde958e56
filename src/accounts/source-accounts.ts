import { z } from 'zod'
import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { AccountSet } from './account-set.ts'
import type { Account } from './ports.ts'

/** The accounts that a reading was made from; null for one that does not exist. */
export interface SourceAccount {
  readonly address: Pubkey
  readonly account: Account | null
}

/** Version of the text: a reading of another version is not used. */
const VERSION = 1

// Every text is some bytes in base64: readers of accounts refuse those of another form.
const bytes = z.string().transform((text): Uint8Array => Buffer.from(text, 'base64'))
const key = bytes.refine(({ length }) => length === 32)
const u64 = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt)

const ACCOUNT = z
  .tuple([key, u64, u64, z.boolean(), bytes])
  .transform(([owner, lamports, rentEpoch, executable, data]): Account => ({
    owner,
    lamports,
    rentEpoch,
    executable,
    data
  }))
const TEXT = z.tuple([z.literal(VERSION), z.array(z.tuple([key, ACCOUNT.nullable()]))])

const base64 = (of: Uint8Array): string =>
  Buffer.from(of.buffer, of.byteOffset, of.byteLength).toString('base64')

/** Writes accounts as text that other processes read. They are as the chain has them, so every version can read them. */
export function writeSourceAccounts(sources: readonly SourceAccount[]): string {
  const rows = sources.map(({ address, account }) => {
    if (account === null) return [base64(address), null]
    const { owner, lamports, rentEpoch, executable, data } = account
    return [base64(address), [base64(owner), String(lamports), String(rentEpoch), executable, base64(data)]]
  })
  return JSON.stringify([VERSION, rows])
}

/** Reads accounts from text; null for a text of another version. */
export function readSourceAccounts(text: string): readonly SourceAccount[] | null {
  try {
    const { data } = TEXT.safeParse(JSON.parse(text))
    return data?.[1].map(([address, account]) => ({ address, account })) ?? null
  } catch {
    return null
  }
}

/** Returns accounts as the set that readers read from. */
export const accountSetOf = (sources: readonly SourceAccount[]): AccountSet =>
  new AccountSet(new Map(sources.map(({ address, account }) => [pubkeyMapKey(address), account])))
