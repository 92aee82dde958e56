import { PubkeyTable } from './pubkey.ts'
import type { Instruction } from './transaction.ts'

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const SYSTEM_PROGRAM = '11111111111111111111111111111111'

/** Programs whose instructions move value. */
export type ValueProgram = 'token' | 'token-2022' | 'system'

export const VALUE_PROGRAMS = new PubkeyTable<ValueProgram>([
  [TOKEN_PROGRAM, 'token'],
  [TOKEN_2022_PROGRAM, 'token-2022'],
  [SYSTEM_PROGRAM, 'system']
])

/** Tokens or lamports moved by one instruction. Accounts are key indexes; -1 for a side that has no account. */
export interface Movement {
  readonly kind: 'transfer' | 'mint' | 'burn' | 'lamports'
  readonly source: number
  readonly destination: number
  readonly authority: number
  readonly amount: bigint
  /** Key index of the mint; -1 if the instruction does not name it. */
  readonly mint: number
  readonly decimals: number
  /** The Token-2022 transfer fee; null if the instruction does not state it. */
  readonly fee: bigint | null
  /** Whether the program may withhold a transfer fee. False for the classic program, which credits what it debits. */
  readonly mayWithhold: boolean
  readonly instruction: Instruction
}

/** A token account created by an instruction of the transaction, which names its mint. */
export interface TokenAccountOpening {
  readonly account: number
  readonly mint: number
}

export interface MovementSink {
  movement(movement: Movement): void
  opening(opening: TokenAccountOpening): void
}

/** Reads the movements of a value program's instruction. A token `Batch` gives the movements of all its instructions. */
export function readMovements(instruction: Instruction, program: ValueProgram, sink: MovementSink): void {
  const { accounts, data } = instruction
  if (program === 'system') {
    const lamports = readSystemTransfer(accounts, data, instruction)
    if (lamports !== null) sink.movement(lamports)
    return
  }
  const part: TokenPart = {
    instruction,
    accounts,
    firstAccount: 0,
    accountCount: accounts.length,
    data,
    start: 0,
    end: data.length,
    mayWithhold: program === 'token-2022'
  }
  if (data[0] === 255) readBatch(part, sink)
  else readTokenPart(part, sink)
}

interface TokenPart {
  readonly instruction: Instruction
  readonly accounts: ArrayLike<number>
  readonly firstAccount: number
  readonly accountCount: number
  readonly data: Uint8Array
  readonly start: number
  readonly end: number
  readonly mayWithhold: boolean
}

/** Reads a `Batch`: account count u8, data length u8, data, repeated. The instructions do not nest. */
function readBatch(batch: TokenPart, sink: MovementSink): void {
  let at = 1
  let firstAccount = 0
  while (at + 2 <= batch.end) {
    const accountCount = batch.data[at]!
    const size = batch.data[at + 1]!
    const start = at + 2
    if (start + size > batch.end || firstAccount + accountCount > batch.accountCount) return
    readTokenPart({ ...batch, firstAccount, accountCount, start, end: start + size }, sink)
    at = start + size
    firstAccount += accountCount
  }
}

function readTokenPart(part: TokenPart, sink: MovementSink): void {
  const account = (position: number): number =>
    position < part.accountCount ? part.accounts[part.firstAccount + position]! : -1
  const size = part.end - part.start
  const u64 = (offset: number): bigint => readU64(part.data, part.start + offset)
  const move = (
    kind: Movement['kind'],
    source: number,
    destination: number,
    authority: number,
    more: { mint?: number; decimals?: number; fee?: bigint; amountAt?: number } = {}
  ): void =>
    sink.movement({
      kind,
      source,
      destination,
      authority,
      amount: u64(more.amountAt ?? 1),
      mint: more.mint ?? -1,
      decimals: more.decimals ?? -1,
      fee: more.fee ?? null,
      mayWithhold: part.mayWithhold && kind === 'transfer',
      instruction: part.instruction
    })
  const byte = (offset: number): number => part.data[part.start + offset]!
  switch (part.data[part.start]) {
    case 1: // InitializeAccount
    case 16: // InitializeAccount2
    case 18: // InitializeAccount3
      if (part.accountCount >= 2) sink.opening({ account: account(0), mint: account(1) })
      return
    case 3: // Transfer
      if (size >= 9 && part.accountCount >= 3) move('transfer', account(0), account(1), account(2))
      return
    case 7: // MintTo
      if (size >= 9 && part.accountCount >= 3) move('mint', -1, account(1), account(2), { mint: account(0) })
      return
    case 14: // MintToChecked
      if (size >= 10 && part.accountCount >= 3) {
        move('mint', -1, account(1), account(2), { mint: account(0), decimals: byte(9) })
      }
      return
    case 8: // Burn
      if (size >= 9 && part.accountCount >= 3) move('burn', account(0), -1, account(2), { mint: account(1) })
      return
    case 15: // BurnChecked
      if (size >= 10 && part.accountCount >= 3) {
        move('burn', account(0), -1, account(2), { mint: account(1), decimals: byte(9) })
      }
      return
    case 12: // TransferChecked
      if (size >= 10 && part.accountCount >= 4) {
        move('transfer', account(0), account(2), account(3), { mint: account(1), decimals: byte(9) })
      }
      return
    case 26: // TransferFeeExtension: TransferCheckedWithFee is its second instruction
      if (size >= 19 && byte(1) === 1 && part.accountCount >= 4) {
        move('transfer', account(0), account(2), account(3), {
          mint: account(1),
          decimals: byte(10),
          fee: u64(11),
          amountAt: 2
        })
      }
      return
    default:
  }
}

/** Reads a system `Transfer` (2) or `TransferWithSeed` (11); null for any other instruction. */
function readSystemTransfer(
  accounts: ArrayLike<number>,
  data: Uint8Array,
  instruction: Instruction
): Movement | null {
  if (data.length < 12 || data[1] !== 0 || data[2] !== 0 || data[3] !== 0) return null
  const withSeed = data[0] === 11
  if (data[0] !== 2 && !withSeed) return null
  if (accounts.length < (withSeed ? 3 : 2)) return null
  return {
    kind: 'lamports',
    source: accounts[0]!,
    destination: accounts[withSeed ? 2 : 1]!,
    authority: accounts[withSeed ? 1 : 0]!,
    amount: readU64(data, 4),
    mint: -1,
    decimals: -1,
    fee: null,
    mayWithhold: false,
    instruction
  }
}

function readU64(data: Uint8Array, at: number): bigint {
  const low = (data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24)) >>> 0
  const high = (data[at + 4]! | (data[at + 5]! << 8) | (data[at + 6]! << 16) | (data[at + 7]! << 24)) >>> 0
  return high === 0 ? BigInt(low) : (BigInt(high) << 32n) | BigInt(low)
}
