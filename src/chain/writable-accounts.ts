import { PubkeyTable, type Pubkey } from './pubkey.ts'
import type { Transaction } from './transaction.ts'

const LOADER_UPGRADEABLE = new PubkeyTable([['BPFLoaderUpgradeab1e11111111111111111111111', true]])

/**
 * Accounts that the runtime never locks for writing, even if a message requests it: builtin programs and sysvars
 * (Agave's `ReservedAccountKeys`, including those with an activated feature).
 */
const RESERVED = [
  '11111111111111111111111111111111',
  'AddressLookupTab1e1111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'ComputeBudget111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'Feature111111111111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'NativeLoader1111111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'StakeConfig11111111111111111111111111111111',
  'Sysvar1111111111111111111111111111111111111',
  'SysvarC1ock11111111111111111111111111111111',
  'SysvarEpochRewards1111111111111111111111111',
  'SysvarEpochSchedu1e111111111111111111111111',
  'SysvarFees111111111111111111111111111111111',
  'Sysvar1nstructions1111111111111111111111111',
  'SysvarLastRestartS1ot1111111111111111111111',
  'SysvarRecentB1ockHashes11111111111111111111',
  'SysvarRent111111111111111111111111111111111',
  'SysvarRewards111111111111111111111111111111',
  'SysvarS1otHashes111111111111111111111111111',
  'SysvarS1otHistory11111111111111111111111111',
  'SysvarStakeHistory1111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'ZkE1Gama1Proof11111111111111111111111111111',
  'ZkTokenProof1111111111111111111111111111111'
]

const reserved = new PubkeyTable(RESERVED.map((text) => [text, true]))

/** Tells whether the runtime never locks an account for writing. */
export const isReserved = (account: Pubkey): boolean => reserved.ofBytes(account) === true

/**
 * Writes the hash (`accountHashes`) of each account that the runtime locks for writing into a list, from an index on.
 * Returns the index after them; a transaction has at most 256.
 *
 * These are the accounts that the message requests, without programs that it calls, unless it also names the
 * upgradeable loader. Reserved accounts (`isReserved`) are included: few messages request one, and a look-up for each
 * account costs more than everything else.
 */
export function writeWritable({ keys, instructions }: Transaction, into: Float64Array, from: number): number {
  let end = keys.writableHashes(into, from)
  for (let i = 0; i < instructions.length; i++) {
    const { innerIndex, program } = instructions[i]!
    if (innerIndex !== null || !keys.isWritable(program)) continue
    if (hasLoader(keys)) return end
    const at = into.subarray(0, end).lastIndexOf(keys.hash(program))
    // A program that is called twice is removed once.
    if (at >= from) into.copyWithin(at, at + 1, end--)
  }
  return end
}

function hasLoader(keys: Transaction['keys']): boolean {
  for (let index = 0; index < keys.length; index++)
    if (keys.lookup(index, LOADER_UPGRADEABLE) === true) return true
  return false
}
