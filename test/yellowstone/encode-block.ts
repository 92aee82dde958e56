import { SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import { decodeBase58 } from '../../src/chain/base58.ts'
import { decompile } from '../chain/rpc/decompile.ts'

/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-member-access */
/* eslint-disable @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-call */
/* eslint-disable @typescript-eslint/no-unsafe-assignment */

/** A server's message before encoding; tests change it freely. */
export type UpdateBlock = NonNullable<SubscribeUpdate['block']>
export type UpdateTransaction = UpdateBlock['transactions'][number]
type PartialUpdate = Parameters<typeof SubscribeUpdate.fromPartial>[0]
type UpdateKind = 'slot' | 'ping' | 'pong' | 'block' | 'blockMeta' | 'transaction' | 'filters' | 'createdAt'

/** Returns the bytes of a SubscribeUpdate. */
export function encodeUpdate(update: Partial<Record<UpdateKind, unknown>>): Buffer {
  return Buffer.from(SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update as PartialUpdate)).finish())
}

export function encodeBlock(block: UpdateBlock): Buffer {
  return encodeUpdate({ filters: ['blocks'], block, createdAt: new Date(1_700_000_000_000) })
}

/** Converts a getBlock result in encoding base64 or json to the plugin's form, with the package's own encoders. */
export function updateBlock(result: any, slot: number): UpdateBlock {
  const transactions = result.transactions.map((entry: any, index: number) => {
    const json = Array.isArray(entry.transaction) ? decompile(entry) : entry
    return updateTransaction(json, index)
  })
  const { block } = SubscribeUpdate.fromPartial({
    block: {
      slot: String(slot),
      blockhash: result.blockhash,
      parentSlot: String(result.parentSlot),
      parentBlockhash: result.previousBlockhash,
      ...(result.blockTime !== null && { blockTime: { timestamp: String(result.blockTime) } }),
      ...(result.blockHeight !== undefined && { blockHeight: { blockHeight: String(result.blockHeight) } }),
      executedTransactionCount: String(transactions.length),
      ...(result.rewards && {
        rewards: {
          rewards: result.rewards.map((each: any) => ({
            pubkey: each.pubkey,
            lamports: String(each.lamports),
            postBalance: String(each.postBalance),
            rewardType: ['Unspecified', 'Fee', 'Rent', 'Staking', 'Voting'].indexOf(each.rewardType)
          }))
        }
      }),
      updatedAccountCount: '7',
      entriesCount: '3',
      transactions
    }
  } as PartialUpdate)
  return block!
}

/** A transaction in encoding json. */
export function updateTransaction(entry: any, index: number): UpdateTransaction {
  const { meta, transaction, version } = entry
  const { message, signatures } = transaction
  const isSimpleVote =
    message.instructions.length === 1 &&
    message.accountKeys[message.instructions[0].programIdIndex] === VOTE_PROGRAM
  const update = SubscribeUpdate.fromPartial({
    transaction: {
      transaction: {
        signature: decodeBase58(signatures[0]),
        isVote: isSimpleVote,
        index: String(index),
        transaction: {
          signatures: signatures.map(decodeBase58),
          message: {
            header: message.header,
            accountKeys: message.accountKeys.map(decodeBase58),
            recentBlockhash: decodeBase58(message.recentBlockhash),
            instructions: message.instructions.map(instructionOf),
            versioned: version === 0 || version === 1,
            addressTableLookups: (message.addressTableLookups ?? []).map((each: any) => ({
              accountKey: decodeBase58(each.accountKey),
              writableIndexes: Uint8Array.from(each.writableIndexes),
              readonlyIndexes: Uint8Array.from(each.readonlyIndexes)
            })),
            ...(version === 1 && { config: configOf(message.transactionConfig) })
          }
        },
        meta: {
          ...(meta.err !== null && { err: { err: Uint8Array.of(8, 0, 0, 0) } }),
          fee: String(meta.fee),
          preBalances: meta.preBalances.map(String),
          postBalances: meta.postBalances.map(String),
          innerInstructions: (meta.innerInstructions ?? []).map((group: any) => ({
            index: group.index,
            instructions: group.instructions.map((each: any) => ({
              ...instructionOf(each),
              ...(each.stackHeight !== null &&
                each.stackHeight !== undefined && { stackHeight: each.stackHeight })
            }))
          })),
          innerInstructionsNone: meta.innerInstructions === null,
          logMessages: meta.logMessages ?? [],
          logMessagesNone: meta.logMessages === null,
          preTokenBalances: (meta.preTokenBalances ?? []).map(balanceOf),
          postTokenBalances: (meta.postTokenBalances ?? []).map(balanceOf),
          loadedWritableAddresses: (meta.loadedAddresses?.writable ?? []).map(decodeBase58),
          loadedReadonlyAddresses: (meta.loadedAddresses?.readonly ?? []).map(decodeBase58),
          returnDataNone: true,
          computeUnitsConsumed: String(meta.computeUnitsConsumed ?? 0)
        }
      }
    }
  } as PartialUpdate)
  return update.transaction!.transaction!
}

/**
 * Returns whether a whole record is in encoding json: a few have parsed parts or lack lookups, which a stream never does.
 */
export function isCompiled(value: unknown): boolean {
  const { transaction, meta } = value as {
    transaction: {
      message: { accountKeys: unknown[]; instructions: object[]; addressTableLookups?: object[] }
    }
    meta: {
      innerInstructions: { instructions: object[] }[] | null
      loadedAddresses?: { writable: unknown[]; readonly: unknown[] }
    }
  }
  const { accountKeys, instructions, addressTableLookups = [] } = transaction.message
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {}
  const all = [...instructions, ...(meta.innerInstructions ?? []).flatMap((group) => group.instructions)]
  return (
    typeof accountKeys[0] === 'string' &&
    all.every((each) => 'programIdIndex' in each) &&
    addressTableLookups.every((each) => 'readonlyIndexes' in each) &&
    (addressTableLookups.length > 0 || writable.length + readonly.length === 0)
  )
}

const VOTE_PROGRAM = 'Vote111111111111111111111111111111111111111'

function instructionOf(each: any) {
  return {
    programIdIndex: each.programIdIndex,
    accounts: Uint8Array.from(each.accounts),
    data: decodeBase58(each.data)
  }
}

function balanceOf(each: any) {
  const { uiAmount, decimals, amount, uiAmountString } = each.uiTokenAmount
  return {
    accountIndex: each.accountIndex,
    mint: each.mint,
    owner: each.owner ?? '',
    programId: each.programId ?? '',
    uiTokenAmount: { uiAmount: uiAmount ?? 0, decimals, amount, uiAmountString: uiAmountString ?? '' }
  }
}

function configOf(config: any) {
  return {
    ...(config.priorityFee !== null && { priorityFee: String(config.priorityFee) }),
    ...(config.computeUnitLimit !== null && { computeUnitLimit: config.computeUnitLimit }),
    ...(config.loadedAccountsDataSizeLimit !== null && {
      loadedAccountsDataSizeLimit: config.loadedAccountsDataSizeLimit
    }),
    ...(config.heapSize !== null && { heapSize: config.heapSize })
  }
}
