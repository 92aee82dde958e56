import { encodeBase58 } from '../../chain/base58.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { Commitment } from '../../market/rows.ts'
import { accountFormOf, type AccountForm } from './account-encoding.ts'
import { accountFilterOf, type AccountFilter } from './account-filters.ts'
import {
  booleanOf,
  bytesOrNull,
  commitmentOf,
  configOf,
  invalidType,
  isMap,
  listOf,
  optional,
  stringOf,
  unknownVariant
} from './params.ts'
import { invalidParams } from './rpc-error.ts'

/** The topic of a subscription. */
export type Topic =
  | {
      readonly kind: 'account'
      readonly address: Uint8Array
      readonly commitment: Commitment
      readonly form: AccountForm
    }
  | {
      readonly kind: 'program'
      readonly program: Uint8Array
      readonly commitment: Commitment
      readonly form: AccountForm
      readonly filter: AccountFilter
    }
  | {
      readonly kind: 'logs'
      readonly of: 'all' | 'allWithVotes' | Uint8Array
      readonly commitment: Commitment
    }
  | { readonly kind: 'signature'; readonly signature: Uint8Array; readonly commitment: Commitment }
  | { readonly kind: 'slot' }
  | { readonly kind: 'root' }

export interface SubscriptionRequest {
  readonly topic: Topic
  /** Equal for equal requests, which share notifications. */
  readonly key: string
}

/** Parameter counts and reader of each kind of subscription. */
export const SUBSCRIPTIONS: Readonly<
  Record<
    Topic['kind'],
    { required: number; most: number; read: (params: readonly unknown[]) => SubscriptionRequest }
  >
> = {
  account: { required: 1, most: 2, read: readAccount },
  program: { required: 1, most: 2, read: readProgram },
  logs: { required: 1, most: 2, read: readLogs },
  signature: { required: 1, most: 2, read: readSignature },
  slot: { required: 0, most: 0, read: () => ({ topic: { kind: 'slot' }, key: 'slot' }) },
  root: { required: 0, most: 0, read: () => ({ topic: { kind: 'root' }, key: 'root' }) }
}

function readAccount([address, options]: readonly unknown[]): SubscriptionRequest {
  const text = stringOf(address)
  const config = configOf(options, 'RpcAccountInfoConfig')
  const form = accountFormOf(config, 'binary')
  const commitment = commitmentOf(config)
  const key = ['account', text, commitment, form]
  return request({ kind: 'account', address: keyOf(text, 32, 'pubkey'), commitment, form }, key)
}

function readProgram([address, options]: readonly unknown[]): SubscriptionRequest {
  const text = stringOf(address)
  const config = configOf(options, 'RpcProgramAccountsConfig')
  const form = accountFormOf(config, 'binary')
  const commitment = commitmentOf(config)
  const filter =
    optional(config.filters, (value) => accountFilterOf(value, 'Invalid params: ')) ?? ((): boolean => true)
  const key = ['program', text, commitment, form, config.filters ?? null]
  return request({ kind: 'program', program: keyOf(text, 32, 'pubkey'), commitment, form, filter }, key)
}

const LOG_KINDS = ['all', 'allWithVotes', 'mentions']

function readLogs([which, options]: readonly unknown[]): SubscriptionRequest {
  const of = logsOf(which)
  const commitment = commitmentOf(configOf(options, 'RpcTransactionLogsConfig'))
  return request({ kind: 'logs', of, commitment }, [
    'logs',
    typeof of === 'string' ? of : pubkeyToBase58(of),
    commitment
  ])
}

function logsOf(value: unknown): 'all' | 'allWithVotes' | Uint8Array {
  if (value === 'all' || value === 'allWithVotes') return value
  if (typeof value === 'string') throw unknownVariant(value, LOG_KINDS)
  if (!isMap(value)) throw invalidType(value, 'string or map')
  const [kind = '', ...others] = Object.keys(value)
  if (kind === '' || others.length > 0)
    throw invalidParams('Invalid params: invalid value: map, expected map with a single key.')
  const argument = value[kind]
  if (kind !== 'mentions') throw unknownVariant(kind, LOG_KINDS)
  const [address, more] = listOf(argument).map(stringOf)
  if (address === undefined || more !== undefined) {
    throw invalidParams('Invalid Request: Only 1 address supported')
  }
  return keyOf(address, 32, 'mentions')
}

function readSignature([signature, options]: readonly unknown[]): SubscriptionRequest {
  const text = stringOf(signature)
  const config = configOf(options, 'RpcSignatureSubscribeConfig')
  // A node that leads every slot puts a transaction into a block at once, so there is no notification in between.
  optional(config.enableReceivedNotification, booleanOf)
  const commitment = commitmentOf(config)
  const key = keyOf(text, 64, 'signature')
  return request({ kind: 'signature', signature: key, commitment }, [
    'signature',
    encodeBase58(key),
    commitment
  ])
}

function request(topic: Topic, key: unknown): SubscriptionRequest {
  return { topic, key: JSON.stringify(key) }
}

function keyOf(text: string, size: 32 | 64, thing: string): Uint8Array {
  const bytes = bytesOrNull(text, size)
  if (bytes === null) throw invalidParams(`Invalid Request: Invalid ${thing} provided`)
  return bytes
}
