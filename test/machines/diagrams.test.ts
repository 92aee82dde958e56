import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { AnyStateMachine } from 'xstate'
import { bundleMachine } from '../../machines/bundle.machine.ts'
import { connectionMachine } from '../../machines/connection.machine.ts'
import { pubsubLinkMachine } from '../../machines/pubsub-link.machine.ts'
import { rpcSubscriptionMachine } from '../../machines/rpc-subscription.machine.ts'
import { oneForOne } from '../../machines/one-for-one.machine.ts'
import { serviceMachine } from '../../machines/service.machine.ts'
import { sourceMachine } from '../../machines/source.machine.ts'
import { supervised } from '../../machines/supervised.machine.ts'
import type { Policy } from '../../machines/unit.ts'
import { transactionMachine } from '../../machines/transaction.machine.ts'
import { upstreamMachine } from '../../machines/upstream.machine.ts'
import { webhookMachine } from '../../machines/webhook.machine.ts'
import { drawMachine } from './mermaid.ts'

const DOCUMENT = new URL('../../src/docs/machines.md', import.meta.url)

const MACHINES: [title: string, machine: AnyStateMachine][] = [
  ['supervised: a unit under its policy, with what is built on it inside', supervised('unit', {} as Policy)],
  ['one-for-one: units side by side', oneForOne('group', ['a', 'b'])],
  ['service: the whole tree, to the exit of the process', serviceMachine],
  ['source: where blocks come from, judged by the newest slot', sourceMachine],
  ['upstream: one node, as its probes find it', upstreamMachine],
  ['connection: one client of the stream', connectionMachine],
  ['webhook: deliveries to one receiver', webhookMachine],
  ['transaction: one submission, from its first send to its end', transactionMachine],
  ['bundle: one bundle, from its storage to the end that the chain gives it', bundleMachine],
  ['rpc-subscription: one subscription at a node, shared by clients of the RPC URL', rpcSubscriptionMachine],
  ['pubsub-link: one WebSocket to a node, for subscriptions', pubsubLinkMachine]
]

const text = [
  '# Machines',
  'Drawn from `machines/`; the test `test/machines/diagrams.test.ts` compares, and draws anew with `MILLRACE_DRAW=1`.',
  ...MACHINES.flatMap(([title, machine]) => [`## ${title}`, `\`\`\`mermaid\n${drawMachine(machine)}\n\`\`\``])
].join('\n\n')

t.test('the drawn machines are the machines', async (t) => {
  if (process.env['MILLRACE_DRAW'] === '1') writeFileSync(DOCUMENT, `${text}\n`)
  t.equal(readFileSync(DOCUMENT, 'utf8'), `${text}\n`)
})
