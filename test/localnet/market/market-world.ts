import { decodeTransaction, type Decoded } from '../../../src/chain/decode.ts'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { pubkeyToBase58, samePubkey, type Pubkey } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import { readRpcTransaction } from '../../../src/chain/rpc/transaction.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'
import type { ExecutedTransaction, LocalAccount, MetaTokenBalance } from '../../../src/localnet/chain.ts'
import {
  executeScript,
  type ExecutedScript,
  type TransactionFrame
} from '../../../src/localnet/market/execution.ts'
import { Ledger } from '../../../src/localnet/market/ledger.ts'
import { seededRandom } from '../../../src/localnet/market/random.ts'
import type { TransactionScript } from '../../../src/localnet/market/script.ts'
import type { VenueWorld } from '../../../src/localnet/market/venue.ts'

/** Result of a script, with its transaction as the service's decoder reads it. */
export interface DecodedScript extends ExecutedScript, Decoded {
  readonly read: Transaction
}

/** A ledger with wallets and tokens, for tests of venues. */
export class MarketWorld implements VenueWorld {
  readonly ledger = new Ledger()
  readonly random
  #count = 0

  constructor(seed = 'test') {
    this.random = seededRandom(seed)
  }

  /** Returns a new address with lamports, 10,000 SOL by default. */
  person(lamports = 10_000_000_000_000n): Pubkey {
    const address = this.random.bytes(32)
    this.ledger.begin()
    this.ledger.addLamports(address, lamports)
    this.ledger.commit()
    return address
  }

  /** Returns a new mint; the payer of its transaction is its authority. */
  mint(decimals: number, token2022 = false): Pubkey {
    const address = this.random.bytes(32)
    this.run(this.person(), (script) => {
      script.createMint({ address, decimals, authority: script.payer, token2022 })
    })
    return address
  }

  /** Credits tokens, or wrapped SOL, to the owner's associated token account. Returns its address. */
  give(owner: Pubkey, mint: Pubkey, amount: bigint): Pubkey {
    const account = this.ledger.tokenAccountOf(owner, mint)
    const native = samePubkey(mint, NATIVE_MINT)
    this.run(this.person(20_000_000_000_000n), (script) => {
      script.ensureTokenAccount(owner, mint)
      if (native) {
        script.wrap(script.payer, amount)
        const from = this.ledger.tokenAccountOf(script.payer, mint)
        script.transfer({ mint, from, to: account, authority: script.payer, amount })
      } else script.mintTo({ mint, to: account, authority: script.payer, amount })
    })
    return account
  }

  /** Runs a script of the payer's as one transaction and decodes it. */
  run(
    payer: Pubkey,
    write: (script: TransactionScript) => void,
    frame: Partial<TransactionFrame> = {}
  ): DecodedScript {
    this.#count++
    const executed = executeScript(
      this.ledger,
      {
        payer,
        slot: 1000 + this.#count,
        blockTime: 1_700_000_000 + this.#count,
        blockhash: new Uint8Array(32).fill(7),
        nonce: `test/${this.#count}`,
        ...frame
      },
      write
    )
    return decodeExecuted(executed)
  }
}

/** Reads a transaction as the service reads it from a node, and decodes it. Throws if it cannot be read. */
export function decodeExecuted(executed: ExecutedScript): DecodedScript {
  const outcome = readRpcTransaction(renderTransaction(executed.transaction, 1, 1_700_000_000))
  if (outcome.kind !== 'transaction') throw new Error(`not readable: ${JSON.stringify(outcome)}`)
  return { ...executed, ...decodeTransaction(outcome.transaction), read: outcome.transaction }
}

/** A `getTransaction` result in encoding `base64`, as Agave writes it. */
export function renderTransaction(
  { wire, meta }: ExecutedTransaction,
  slot: number,
  blockTime: number
): unknown {
  const texts = (keys: readonly Uint8Array[]): string[] => keys.map((key) => pubkeyToBase58(key))
  const balances = (list: readonly MetaTokenBalance[]): unknown[] =>
    list.map(({ accountIndex, mint, owner, program, amount, decimals }) => ({
      accountIndex,
      mint: pubkeyToBase58(mint),
      owner: pubkeyToBase58(owner),
      programId: pubkeyToBase58(program),
      uiTokenAmount: { amount: `${amount}`, decimals, uiAmount: null, uiAmountString: '' }
    }))
  return {
    slot,
    blockTime,
    transaction: [wire.toBase64(), 'base64'],
    version: meta.loadedWritable.length + meta.loadedReadonly.length > 0 ? 0 : 'legacy',
    meta: {
      err: meta.err,
      status: meta.err === null ? { Ok: null } : { Err: meta.err },
      fee: Number(meta.fee),
      computeUnitsConsumed: Number(meta.computeUnits),
      preBalances: meta.preBalances.map(Number),
      postBalances: meta.postBalances.map(Number),
      preTokenBalances: balances(meta.preTokenBalances),
      postTokenBalances: balances(meta.postTokenBalances),
      innerInstructions: meta.inner.map(({ index, instructions }) => ({
        index,
        instructions: instructions.map(({ programIndex, accounts, data, stackHeight }) => ({
          programIdIndex: programIndex,
          accounts,
          data: encodeBase58(data),
          stackHeight
        }))
      })),
      logMessages: meta.logs,
      loadedAddresses: { writable: texts(meta.loadedWritable), readonly: texts(meta.loadedReadonly) },
      rewards: []
    }
  }
}

/** Returns the changed account of an address, or undefined if the transaction did not change it. */
export function changed(executed: ExecutedScript, address: Pubkey): LocalAccount | undefined {
  return executed.accounts.find((account) => samePubkey(account.address, address))
}
