import { createHash } from 'node:crypto'
import type { ExecutedTransaction, LocalAccount } from '../../../src/localnet/chain.ts'

const bytes = (what: string, number: number): Uint8Array =>
  new Uint8Array(createHash('sha512').update(`${what} ${number}`).digest())

const key = (what: string, number: number): Uint8Array => bytes(what, number).slice(0, 32)

/** An account as a market writes it. */
export function marketAccount(number: number): LocalAccount {
  return {
    address: key('account', number),
    owner: key('program', 0),
    lamports: 1_000_000n + BigInt(number),
    data: bytes('data', number),
    executable: false,
    rentEpoch: 2n ** 64n - 1n
  }
}

/** A transaction as a market states it, with every field set; only version 0 has keys from lookup tables. */
export function included(number: number, version: 'legacy' | 0 = 'legacy'): ExecutedTransaction {
  const signature = bytes('signature', number)
  const [payer, program] = [key('payer', number), key('program', 0)]
  const lookup = Buffer.concat([Buffer.from([1]), key('table', 0), Buffer.from([1, 0, 1, 1])])
  const message = Buffer.concat([
    Buffer.from(version === 0 ? [0x80] : []),
    Buffer.from([1, 0, 1, 2]),
    payer,
    program,
    key('blockhash', 0),
    Buffer.from([1, 1, 1, 0, 1, 7]),
    version === 0 ? lookup : Buffer.alloc(0)
  ])
  const balance = {
    accountIndex: 1,
    mint: key('mint', number),
    owner: payer,
    program,
    amount: 5n * 10n ** 18n,
    decimals: 6
  }
  return {
    signature,
    wire: new Uint8Array(Buffer.concat([Buffer.from([1]), signature, message])),
    isVote: number % 2 === 0,
    meta: {
      err: number % 3 === 0 ? { InstructionError: [0, { Custom: number }] } : null,
      fee: 5_000n,
      computeUnits: 123_456n,
      preBalances: [10n, 2n ** 63n],
      postBalances: [5n, 2n ** 63n],
      preTokenBalances: [balance],
      postTokenBalances: [{ ...balance, amount: 0n }],
      inner: [
        {
          index: 0,
          instructions: [{ programIndex: 1, accounts: [0, 1], data: bytes('inner', number), stackHeight: 2 }]
        }
      ],
      logs: ['Program log: grüße', ''],
      loadedWritable: [key('loaded', number)],
      loadedReadonly: [key('loaded', number + 1)],
      returnData: number % 2 === 0 ? { program, data: bytes('return', number) } : null
    }
  }
}
