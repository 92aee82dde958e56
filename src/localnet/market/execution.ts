import { createHash } from 'node:crypto'
import { pubkeyMapKey, pubkeyToBase58, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { ByteReader } from '../../chain/codec.ts'
import type {
  ExecutedTransaction,
  ExecutionMeta,
  InnerGroup,
  LocalAccount,
  MetaTokenBalance
} from '../chain.ts'
import { holdsTokens, type Ledger } from './ledger.ts'
import { compileMessage, writeTransaction, type LookupTable, type Message } from './message.ts'
import { COMPUTE_BUDGET, SYSTEM, TOKEN, TOKEN_2022, VOTE } from '../programs.ts'
import { CallWriter, type WrittenCall } from './script-call.ts'
import type { TransactionScript } from './script.ts'
import { tokenAccount } from './token-layouts.ts'

/** The fixed fields of a market transaction. */
export interface TransactionFrame {
  readonly payer: Pubkey
  readonly slot: number
  /** Unix seconds of the block. */
  readonly blockTime: number
  readonly blockhash: Uint8Array
  /** Makes its signatures unique. */
  readonly nonce: string
  /** Lookup tables; if there are any, the transaction has version 0. */
  readonly tables?: readonly LookupTable[]
  readonly version?: 'legacy' | 0
  readonly isVote?: boolean
}

export interface ExecutedScript {
  readonly transaction: ExecutedTransaction
  /** Accounts that it changed, in their state after it; accounts without lamports are deleted. */
  readonly accounts: readonly LocalAccount[]
}

/** The longest transaction that a cluster accepts (agave, PACKET_DATA_SIZE). */
const PACKET_BYTES = 1232

/** Thrown if a script's transaction exceeds a packet, so that nobody could send it. */
export class PacketOverflow extends Error {
  constructor(bytes: number) {
    super(`a transaction of ${bytes} bytes does not fit a packet of ${PACKET_BYTES}`)
  }
}

const SIGNATURE_FEE = 5000n
const DEFAULT_UNITS = 200_000
const BUILTIN_UNITS = 150

/**
 * Runs a script on the ledger and records it as a node does. If the script throws or its transaction does not fit a
 * packet, the ledger is unchanged. If the script ends as failed, only the fee is charged.
 */
export function executeScript(
  ledger: Ledger,
  frame: TransactionFrame,
  write: (script: TransactionScript) => void
): ExecutedScript {
  const outer: WrittenCall[] = []
  const writer = new OuterWriter(ledger, frame, outer)
  ledger.begin()
  try {
    write(writer)
    const { failure } = writer
    // A failed transaction changes nothing; its instructions, inner ones and logs are recorded nevertheless.
    if (failure !== null) {
      ledger.drop()
      ledger.begin()
    }
    const budget = budgetOf(outer)
    const message = compileMessage({
      payer: frame.payer,
      version: frame.version ?? (frame.tables === undefined ? 'legacy' : 0),
      blockhash: frame.blockhash,
      tables: frame.tables ?? [],
      outer,
      inner: outer.flatMap((call) => callsBelow(call)),
      isChanged: (address) => ledger.isDrafted(address)
    })
    const fee = SIGNATURE_FEE * BigInt(message.signerCount) + budget.fee
    ledger.addLamports(frame.payer, -fee)
    const meta = recordExecution(ledger, message, outer, { failure, fee, limit: budget.limit })
    const signatures = Array.from({ length: message.signerCount }, (_, at) =>
      signatureOf(`${frame.nonce}/${at}`, message.bytes)
    )
    const wire = writeTransaction(signatures, message.bytes)
    if (wire.length > PACKET_BYTES) throw new PacketOverflow(wire.length)
    const accounts = ledger.commit()
    const transaction = { signature: signatures[0]!, wire, isVote: frame.isVote === true, meta }
    return { transaction, accounts }
  } catch (error) {
    ledger.drop()
    throw error
  }
}

class OuterWriter extends CallWriter implements TransactionScript {
  readonly payer: Pubkey
  readonly #outer: WrittenCall[]
  failure: number | null = null

  constructor(ledger: Ledger, frame: TransactionFrame, outer: WrittenCall[]) {
    const { payer, blockTime, slot } = frame
    super({ ledger, payer, blockTime, slot, program: null, height: 0, items: outer })
    this.payer = payer
    this.#outer = outer
  }

  override call(...args: Parameters<CallWriter['call']>): void {
    if (this.failure !== null) throw new Error('nothing runs after a failure')
    super.call(...args)
  }

  fail(customError: number): void {
    if (this.#outer.length === 0) throw new Error('there is no call that could fail')
    this.failure = customError
  }
}

/** Returns the calls below a call, in execution order. */
function callsBelow(call: WrittenCall): WrittenCall[] {
  const below: WrittenCall[] = []
  for (const item of call.items) {
    if (typeof item !== 'string') below.push(item, ...callsBelow(item))
  }
  return below
}

/** Returns the requested compute budget: the limit in units, and the priority fee in lamports. */
function budgetOf(outer: readonly WrittenCall[]): { limit: number; fee: bigint } {
  let asked: number | null = null
  let microLamports = 0n
  let usual = 0
  for (const { program, data } of outer) {
    if (!samePubkey(program, COMPUTE_BUDGET)) {
      usual += isBuiltin(program) ? 3000 : DEFAULT_UNITS
      continue
    }
    usual += 3000
    const reader = new ByteReader(data, 1)
    if (data[0] === 2) asked = reader.u32()
    if (data[0] === 3) microLamports = reader.u64()
  }
  const limit = asked ?? Math.min(usual, 1_400_000)
  return { limit, fee: (microLamports * BigInt(limit) + 999_999n) / 1_000_000n }
}

function recordExecution(
  ledger: Ledger,
  message: Message,
  outer: readonly WrittenCall[],
  ended: { readonly failure: number | null; readonly fee: bigint; readonly limit: number }
): ExecutionMeta {
  const { keys } = message
  const before = keys.map((key) => ledger.accountBefore(key))
  const after = keys.map((key) => ledger.account(key))
  const log = new ExecutionLog(ended.limit)
  for (const [at, call] of outer.entries()) log.run(call, at === outer.length - 1 ? ended.failure : null)
  const inner: InnerGroup[] = []
  for (const [index, call] of outer.entries()) {
    const instructions = callsBelow(call).map(({ program, accounts, data, height }) => ({
      programIndex: message.indexOf(program),
      accounts: accounts.map(({ address }) => message.indexOf(address)),
      data,
      stackHeight: height
    }))
    if (instructions.length > 0) inner.push({ index, instructions })
  }
  const { failure, fee } = ended
  return {
    err: failure === null ? null : { InstructionError: [outer.length - 1, { Custom: failure }] },
    fee,
    computeUnits: BigInt(log.used),
    preBalances: before.map((account) => account?.lamports ?? 0n),
    postBalances: after.map((account) => account?.lamports ?? 0n),
    preTokenBalances: tokenBalances(ledger, before),
    postTokenBalances: tokenBalances(ledger, after),
    inner,
    logs: log.lines,
    loadedWritable: message.loadedWritable,
    loadedReadonly: message.loadedReadonly,
    returnData: null
  }
}

function tokenBalances(ledger: Ledger, accounts: readonly (LocalAccount | null)[]): MetaTokenBalance[] {
  const balances: MetaTokenBalance[] = []
  for (const [accountIndex, account] of accounts.entries()) {
    if (account === null || !holdsTokens(account)) continue
    const mint = tokenAccount.mint(account.data)
    const { decimals } = ledger.mint(mint)
    balances.push({
      accountIndex,
      mint,
      owner: tokenAccount.owner(account.data),
      program: account.owner,
      amount: tokenAccount.amount(account.data),
      decimals
    })
  }
  return balances
}

/** The log lines that a runtime writes, with compute units derived from the calls. */
class ExecutionLog {
  readonly lines: string[] = []
  readonly #limit: number
  used = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Logs a call. A failure is the call's own, after all calls below it succeeded. */
  run(call: WrittenCall, failure: number | null): void {
    const name = pubkeyToBase58(call.program)
    const left = this.#limit - this.used
    this.lines.push(`Program ${name} invoke [${call.height}]`)
    const start = this.used
    for (const item of call.items) {
      if (typeof item === 'string') this.lines.push(item)
      else this.run(item, null)
    }
    this.used += unitsOf(call)
    if (!isBuiltin(call.program)) {
      this.lines.push(`Program ${name} consumed ${this.used - start} of ${left} compute units`)
    }
    const end = failure === null ? 'success' : `failed: custom program error: 0x${failure.toString(16)}`
    this.lines.push(`Program ${name} ${end}`)
  }
}

function unitsOf({ program, accounts, data }: WrittenCall): number {
  if (samePubkey(program, VOTE)) return 2100
  if (isBuiltin(program)) return BUILTIN_UNITS
  if (samePubkey(program, TOKEN)) return 1200 + 20 * data.length
  if (samePubkey(program, TOKEN_2022)) return 1800 + 30 * data.length
  return 2000 + 350 * accounts.length + 12 * data.length
}

const BUILTINS = new Set([SYSTEM, COMPUTE_BUDGET, VOTE].map(pubkeyMapKey))

function isBuiltin(program: Pubkey): boolean {
  return BUILTINS.has(pubkeyMapKey(program))
}

function signatureOf(nonce: string, message: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha512').update(nonce).update(message).digest())
}
