import { encodeBase58 } from '../../chain/base58.ts'
import { pubkeyMapKey, pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { Commitment } from '../../market/rows.ts'
import type { ChainEvent, ExecutedTransaction, LocalAccount, LocalBlock, LocalChain } from '../chain.ts'
import { encodeNotifiedAccount } from './account-encoding.ts'
import { writeJson } from './json.ts'
import { decimalsOf } from './methods/accounts.ts'
import type { SubscriptionRequest, Topic } from './subscription.ts'
import { wireOf } from './transaction-encoding.ts'

/** A receiver of notifications. */
export interface Subscriber {
  send(text: string): void
  /** Called when the subscription has ended by itself, after its last notification. */
  ended(id: number): void
}

interface Subscription {
  readonly id: number
  readonly key: string
  readonly topic: Topic
  readonly subscribers: Set<Subscriber>
}

/**
 * All subscriptions of a node. Equal requests share one subscription: it has one id on all connections, as on Agave, and
 * its notifications are written once. Subscriptions are indexed by their topic, so that a block costs only those that it
 * concerns, not all of them.
 */
export class SubscriptionHub {
  readonly #chain: LocalChain
  readonly #byId = new Map<number, Subscription>()
  readonly #byKey = new Map<string, Subscription>()
  /** Subscriptions by kind, commitment and subject, such as an address. */
  readonly #index = new Map<string, Set<Subscription>>()
  /** Numbers of subscriptions to logs of an account; while all are 0, accounts of transactions are not read. */
  readonly #mentions = { processed: 0, confirmed: 0, finalized: 0 }
  #nextId = 1

  constructor(chain: LocalChain) {
    this.#chain = chain
  }

  /** Number of subscriptions. */
  get size(): number {
    return this.#byId.size
  }

  /** Follows the chain until the returned function is called. */
  follow(): () => void {
    return this.#chain.listen((event) => this.#hear(event))
  }

  subscribe({ topic, key }: SubscriptionRequest, subscriber: Subscriber): number {
    let subscription = this.#byKey.get(key)
    if (subscription === undefined) {
      subscription = { id: this.#nextId++, key, topic, subscribers: new Set() }
      this.#byId.set(subscription.id, subscription)
      this.#byKey.set(key, subscription)
      if (isMention(topic)) this.#mentions[topic.commitment]++
      const slot = indexOf(topic)
      const others = this.#index.get(slot)
      if (others === undefined) this.#index.set(slot, new Set([subscription]))
      else others.add(subscription)
    }
    subscription.subscribers.add(subscriber)
    return subscription.id
  }

  unsubscribe(id: number, subscriber: Subscriber): void {
    const subscription = this.#byId.get(id)
    if (subscription === undefined) return
    subscription.subscribers.delete(subscriber)
    if (subscription.subscribers.size === 0) this.#drop(subscription)
  }

  /** Sends the notification of a signature that has already reached its commitment, because no later block will. */
  catchUp(id: number): void {
    const subscription = this.#byId.get(id)
    if (subscription?.topic.kind !== 'signature') return
    const { signature, commitment } = subscription.topic
    const found = this.#chain.transaction(signature)
    const slot = this.#chain.slot(commitment)
    if (found !== null && found.slot <= slot) this.#end(subscription, slot, found.transaction)
  }

  #drop(subscription: Subscription): void {
    const { id, key, topic } = subscription
    this.#byId.delete(id)
    this.#byKey.delete(key)
    if (isMention(topic)) this.#mentions[topic.commitment]--
    const slot = indexOf(topic)
    const others = this.#index.get(slot)
    others?.delete(subscription)
    if (others?.size === 0) this.#index.delete(slot)
  }

  #hear(event: ChainEvent): void {
    if (this.#byId.size === 0) return
    if (event.kind === 'slot') {
      const { slot, parent, root } = event
      this.#tell('slot', () => ({ slot, parent, root }))
      return
    }
    const { block, commitment, accounts } = event
    for (const account of accounts) this.#notifyAccount(account, block.slot, commitment)
    this.#notifyTransactions(block, commitment)
    if (commitment === 'finalized') this.#tell('root', () => block.slot)
  }

  #notifyAccount(account: LocalAccount, slot: number, commitment: Commitment): void {
    const decimals = decimalsOf(this.#chain)
    this.#tell(`account ${commitment} ${pubkeyMapKey(account.address)}`, (topic) =>
      topic.kind === 'account' ? inSlot(slot, encodeNotifiedAccount(account, topic.form, decimals)) : SILENT
    )
    this.#tell(`program ${commitment} ${pubkeyMapKey(account.owner)}`, (topic) =>
      topic.kind === 'program' && topic.filter(account)
        ? inSlot(slot, {
            pubkey: pubkeyToBase58(account.address),
            account: encodeNotifiedAccount(account, topic.form, decimals)
          })
        : SILENT
    )
  }

  #notifyTransactions({ slot, transactions }: LocalBlock, commitment: Commitment): void {
    for (const transaction of transactions) {
      const { signature, isVote } = transaction
      const logs = (): object => inSlot(slot, logsOf(transaction))
      if (!isVote) this.#tell(`logs ${commitment} all`, logs)
      this.#tell(`logs ${commitment} allWithVotes`, logs)
      if (this.#mentions[commitment] > 0) {
        for (const key of mentioned(transaction)) this.#tell(`logs ${commitment} ${key}`, logs)
      }
      const waiting = this.#index.get(`signature ${commitment} ${encodeBase58(signature)}`)
      for (const subscription of waiting ?? []) this.#end(subscription, slot, transaction)
    }
  }

  /** Sends the only notification of a signature, which ends the subscription. */
  #end(subscription: Subscription, slot: number, { meta }: ExecutedTransaction): void {
    send(subscription, inSlot(slot, { err: meta.err }))
    this.#drop(subscription)
    for (const subscriber of subscription.subscribers) subscriber.ended(subscription.id)
  }

  #tell(slot: string, result: (topic: Topic) => unknown): void {
    const subscriptions = this.#index.get(slot)
    if (subscriptions === undefined) return
    for (const subscription of [...subscriptions]) {
      const value = result(subscription.topic)
      if (value !== SILENT) send(subscription, value)
    }
  }
}

function isMention(topic: Topic): topic is Topic & { kind: 'logs' } {
  return topic.kind === 'logs' && typeof topic.of !== 'string'
}

const SILENT = Symbol('nothing to tell')

function send({ id, topic, subscribers }: Subscription, result: unknown): void {
  const text = `{"jsonrpc":"2.0","method":"${topic.kind}Notification","params":{"result":${writeJson(result)},"subscription":${id}}}`
  // A subscriber that is too far behind leaves the set during the loop.
  for (const subscriber of [...subscribers]) subscriber.send(text)
}

/** Unlike answers, notifications do not state the release. */
function inSlot(slot: number, value: unknown): object {
  return { context: { slot }, value }
}

function logsOf({ signature, meta }: ExecutedTransaction): object {
  return { signature: encodeBase58(signature), err: meta.err, logs: meta.logs }
}

/** Returns the distinct accounts of a transaction as index keys. */
function mentioned(transaction: ExecutedTransaction): Set<string> {
  const { keys, keyCount } = wireOf(transaction)
  const found = new Set<string>()
  for (let i = 0; i < keyCount; i++) found.add(pubkeyMapKey(keys.subarray(i * 32, i * 32 + 32)))
  for (const key of transaction.meta.loadedWritable) found.add(pubkeyMapKey(key))
  for (const key of transaction.meta.loadedReadonly) found.add(pubkeyMapKey(key))
  return found
}

function indexOf(topic: Topic): string {
  switch (topic.kind) {
    case 'account':
      return `account ${topic.commitment} ${pubkeyMapKey(topic.address)}`
    case 'program':
      return `program ${topic.commitment} ${pubkeyMapKey(topic.program)}`
    case 'logs':
      return `logs ${topic.commitment} ${typeof topic.of === 'string' ? topic.of : pubkeyMapKey(topic.of)}`
    case 'signature':
      return `signature ${topic.commitment} ${encodeBase58(topic.signature)}`
    case 'slot':
    case 'root':
      return topic.kind
  }
}
