/**
 * A process with the follower of holder lists on an embedded store. Blocks and requests come as lines of JSON; answers go out
 * as lines:
 *
 *     node holder-child.ts DIRECTORY NODE_URL
 *
 * On request it kills itself at the n-th write of a kind, after naming the point on standard output.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { argv, stdin } from 'node:process'
import { Registry } from 'prom-client'
import { isFaultOfReading, READING_POLICY } from '../../actors/holders/list-reader.ts'
import { DynamicSupervisor } from '../../actors/supervision/dynamic-supervisor.ts'
import { HolderFollower } from '../../actors/holders/holder-follower.ts'
import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import type { AccountNode } from '../../src/accounts/ports.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { holderMintsIn, holderProgressIn, type HolderMint } from '../../src/holders/holder-mint.ts'
import { systemPorts } from '../../src/ports.ts'
import { holderMetrics } from '../../src/holders/metrics.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { HolderRow } from '../../storage/port.ts'
import { blockOfText } from '../followers/block-text.ts'
import { holderIndex } from './holder-index.ts'
import { storedShape } from './list-shape.ts'

/** A write of a follower: of a whole list, of a block, of deleted rows, of all rows of a list, of a state or a progress. */
export type HolderWrite = 'list' | 'block' | 'drop' | 'clear' | 'state'
/** Before the write is given to the store, while the store has it, or once it is durable and not answered. */
export type KillPoint = `${HolderWrite}.${'before' | 'during' | 'after'}`

export type ToChild =
  /** Begins after a slot, with earlier blocks that are read again, and a point to die at. */
  | { readonly start: number; readonly recalled: readonly string[]; readonly killAt: KillPoint | null }
  | { readonly block: string }
  | { readonly ask: HolderMint; readonly killAt: KillPoint | null }
  | { readonly killAt: KillPoint }
  /** Answers `FromChild` once all lists are live at a slot. */
  | { readonly compare: number; readonly mints: readonly string[] }

export interface FromChild {
  /** By mint, with numbers beyond 2^53 as text. */
  readonly lists: Readonly<Record<string, unknown>>
  /** Calls of the node since the start. */
  readonly calls: number
}

const [, , directory, nodeUrl] = argv
/** Synchronous, so that a line is written before the process dies. */
const say = (line: string): number => writeSync(1, `${line}\n`)
let killAt: KillPoint | null = null

function dieAt(point: KillPoint): void {
  if (point !== killAt) return
  say(`killed at ${point}`)
  process.kill(process.pid, 'SIGKILL')
}

type Call = (...args: unknown[]) => Promise<unknown>

/** Wraps a part of the store: calls of a name are writes of a kind. */
function mortal<T extends object>(
  store: T,
  kindOf: (name: string, args: unknown[]) => HolderWrite | null
): T {
  return new Proxy(store, {
    get: (target, name) => {
      const call = (target as Record<PropertyKey, Call>)[name]!.bind(target)
      return async (...args: unknown[]) => {
        const kind = kindOf(String(name), args)
        if (kind === null) return call(...args)
        dieAt(`${kind}.before`)
        const writing = call(...args)
        dieAt(`${kind}.during`)
        const answer = await writing
        dieAt(`${kind}.after`)
        return answer
      }
    }
  })
}

const storage = await openEmbeddedStorage({ directory: directory! })
const holders = mortal(storage.holders, (name, [, rows]) => {
  if (name === 'put') return (rows as readonly HolderRow[])[0]?.kind === 'change' ? 'block' : 'list'
  return name === 'drop' || name === 'clear' ? name : null
})
const documents = mortal(storage.documents, (name) => (name === 'putFenced' ? 'state' : null))
const index = holderIndex()
const client = new RpcAccountNode(() => [nodeUrl!], systemPorts.clock)
let calls = 0
const node: Pick<AccountNode, 'programAccounts'> = {
  programAccounts: async (...asked) => {
    calls++
    return client.programAccounts(...asked)
  }
}
const follower = new HolderFollower({
  ...systemPorts,
  random: () => 0,
  storage: { documents, holders, isShared: false },
  node,
  blocks: index.blocks,
  feed: index.feed,
  metrics: holderMetrics(new Registry()),
  logger: { info: () => undefined, warn: () => undefined },
  readings: new DynamicSupervisor(READING_POLICY, {
    ...systemPorts,
    random: () => 0,
    report: (fault) => {
      throw fault
    },
    isKnown: isFaultOfReading
  }),
  limits: { mintsMax: 100, accountsMax: 1_000_000, pinnedMs: 300_000 }
})

async function listsAt(slot: number, mints: readonly string[]): Promise<FromChild | null> {
  const progress = await holderProgressIn(storage.documents).get()
  if (progress.slot !== slot || follower.lists.length < mints.length) return null
  if (!follower.lists.every((list) => list.isLive)) return null
  const lists: Record<string, unknown> = {}
  for (const mint of mints) lists[mint] = await storedShape(storage, pubkeyFromBase58(mint), slot)
  return { lists, calls }
}

for await (const line of createInterface({ input: stdin })) {
  const told = JSON.parse(line) as ToChild
  if ('killAt' in told) killAt = told.killAt
  if ('start' in told) {
    index.restore({ slot: told.start })
    void follower.run(new AbortController().signal)
    index.recall(told.recalled.map(blockOfText))
  } else if ('block' in told) index.take(blockOfText(told.block))
  else if ('ask' in told) {
    await holderMintsIn(storage.documents).insert(told.ask)
    follower.hint()
  } else if ('compare' in told) {
    const found = await listsAt(told.compare, told.mints)
    say(JSON.stringify(found, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)))
  }
}
