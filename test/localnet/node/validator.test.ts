import { once } from 'node:events'
import t from 'tap'
import { WebSocket } from 'ws'
import { systemPorts } from '../../../src/ports.ts'
import { testWithValidator } from '../../node/real-validator.ts'
import { until } from '../../until.ts'
import { openBank } from '../bank/sending.ts'
import { makeWorld, NO_SIGNATURE, NOBODY, type ComparedWorld } from './compared-world.ts'
import { KNOWN_DIFFERENCES } from './known-differences.ts'
import { keepProducing, startNode, urlOf } from './node-client.ts'
import { BODIES, questionsOf } from './questions.ts'
import { shapeDifferences } from './shape-difference.ts'

/** Slot time of a real node: a blockhash of a question is valid for 150 slots. */
const SLOT_MS = 400

t.test('a difference of shape is found where there is one', async (t) => {
  t.same(shapeDifferences({ a: [1, { b: null }] }, { a: [{ b: null }, 2, 3] }), [])
  t.same(shapeDifferences({ a: 1, c: [] }, { a: null, b: 's', c: [1] }), [
    'a: number where a node has null',
    'b: nothing where a node has string',
    'c: empty where a node has it the other way'
  ])
})

testWithValidator(
  t,
  'the localnet answers as a real node does, but for what is listed',
  async (t, validator) => {
    const bank = await openBank({ clock: systemPorts.clock })
    const node = await startNode(t, bank)
    keepProducing(t, bank, SLOT_MS)
    const [ours, real] = await Promise.all([
      makeWorld(urlOf(node), `ws://127.0.0.1:${node.pubsubPort}`),
      makeWorld(validator.url, `ws://127.0.0.1:${validator.port + 1}`)
    ])
    const compared = [
      ...(await compareAnswers(ours, real)),
      ...(await compareBodies(ours, real)),
      ...(await comparePubsub(ours, real))
    ]
    const differences = compared.flatMap(({ name, found }) => found.map((each) => `${name} → ${each}`))
    t.comment(`${compared.length} questions, ${differences.length} differences`)
    t.ok(compared.length > 400)
    for (const difference of differences) {
      const known = KNOWN_DIFFERENCES.find(({ pattern }) => pattern.test(difference))
      t.ok(known, difference)
      if (known !== undefined) t.comment(`${difference} (${known.why})`)
    }
    for (const { pattern, why } of KNOWN_DIFFERENCES) {
      t.ok(
        differences.some((difference) => pattern.test(difference)),
        `still so: ${why}`
      )
    }
  }
)

const VOTE_PROGRAM = 'Vote111111111111111111111111111111111111111'

interface Compared {
  readonly name: string
  readonly found: readonly string[]
}

/** Compares results by their shape, and errors word by word, with the shape of their data. */
async function compareAnswers(ours: ComparedWorld, real: ComparedWorld): Promise<Compared[]> {
  const [questions, realQuestions] = [await questionsOf(ours), await questionsOf(real)]
  const compared: Compared[] = []
  for (const [at, { name, method, params }] of questions.entries()) {
    const answer = JSON.parse(await ask(ours.url, { method, params })) as RpcAnswer
    const realAnswer = JSON.parse(
      await ask(real.url, { method, params: realQuestions[at]!.params })
    ) as RpcAnswer
    compared.push({ name, found: answerDifferences(withoutVotes(answer), withoutVotes(realAnswer)) })
  }
  return compared
}

interface RpcAnswer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Removes votes, which only a real node has in every block. */
function withoutVotes(answer: RpcAnswer): RpcAnswer {
  const { result } = answer as { result?: { transactions?: unknown[] } | null }
  if (!Array.isArray(result?.transactions)) return answer
  const isVote = (transaction: unknown): boolean => JSON.stringify(transaction).includes(VOTE_PROGRAM)
  return { result: { ...result, transactions: result.transactions.filter((each) => !isVote(each)) } }
}

function answerDifferences(ours: RpcAnswer, real: RpcAnswer): string[] {
  if (ours.error === undefined || real.error === undefined) return shapeDifferences(ours, real)
  const found = shapeDifferences(ours, real)
  const said = ({ code, message }: { code: number; message: string }): string => `${code} ${message}`
  const [here, there] = [said(ours.error), said(real.error)]
  return here === there ? found : [...found, `error: ${here} where a node has ${there}`]
}

async function ask(url: string, call: { method: string; params: unknown }): Promise<string> {
  const params = call.params === undefined ? {} : { params: call.params }
  return (await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method: call.method, ...params }))).text
}

async function post(url: string, body: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return { status: response.status, text: await response.text() }
}

/** Asserts that bodies that are not calls get identical answers, to the letter. */
async function compareBodies(ours: ComparedWorld, real: ComparedWorld): Promise<Compared[]> {
  const compared: Compared[] = []
  for (const [name, body] of Object.entries(BODIES)) {
    const [answer, realAnswer] = [await post(ours.url, body), await post(real.url, body)]
    const [here, there] = [answer, realAnswer].map(({ status, text }) => `${status} ${text.trim()}`)
    compared.push({
      name: `body: ${name}`,
      found: here === there ? [] : [`${here} where a node has ${there}`]
    })
  }
  return compared
}

const confirmed = { commitment: 'confirmed' }

/** Compares subscriptions that are notified of a transfer, and refused ones. */
async function comparePubsub(ours: ComparedWorld, real: ComparedWorld): Promise<Compared[]> {
  const [heard, realHeard] = [await listen(ours), await listen(real)]
  const names = new Set([...heard.keys(), ...realHeard.keys()])
  return [...names].map((name) => ({
    name: `pubsub: ${name}`,
    found: answersDiffer(heard.get(name) ?? [], realHeard.get(name) ?? [])
  }))
}

function answersDiffer(ours: readonly unknown[], real: readonly unknown[]): string[] {
  const [one, realOne] = [ours[0], real[0]] as [RpcAnswer | undefined, RpcAnswer | undefined]
  if (one?.error !== undefined && realOne?.error !== undefined) return answerDifferences(one, realOne)
  return shapeDifferences(ours, real)
}

/** Returns the answers by question; notifications are grouped by subscription. */
async function listen(world: ComparedWorld): Promise<Map<string, unknown[]>> {
  const heard = new Map<string, unknown[]>()
  const key = world.payer.publicKey.toBase58()
  const requests: [string, unknown[] | undefined][] = [
    ['accountSubscribe', [key, { ...confirmed, encoding: 'base64' }]],
    ['programSubscribe', ['11111111111111111111111111111111', { ...confirmed, encoding: 'base64' }]],
    ['logsSubscribe', [{ mentions: [key] }, confirmed]],
    ['signatureSubscribe', [world.landed.failed.signature, confirmed]],
    ['slotSubscribe', undefined],
    ['rootSubscribe', []],
    ['getVersion', undefined],
    ['getSlot', undefined],
    ['blockSubscribe', ['all']],
    ['voteSubscribe', undefined],
    ['accountSubscribe', ['zzz']],
    ['accountSubscribe', undefined],
    ['accountSubscribe', [1]],
    ['accountSubscribe', [NOBODY, { encoding: 'foo' }]],
    ['accountUnsubscribe', [9_999_999]],
    ['accountUnsubscribe', ['x']],
    ['logsSubscribe', [{ mentions: [key, key] }]],
    ['logsSubscribe', ['some']],
    ['slotSubscribe', [1]],
    ['signatureSubscribe', ['abc']],
    ['signatureUnsubscribe', [NO_SIGNATURE]],
    ['programSubscribe', [key, { filters: Array(5).fill({ dataSize: 1 }) }]]
  ]
  const socket = new WebSocket(world.wsUrl)
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as {
      id?: number
      method?: string
      params?: { result: unknown }
    }
    const name =
      message.method ??
      `${requests[message.id!]![0]} ${JSON.stringify(requests[message.id!]![1] ?? null)
        .replaceAll(key, 'KEY')
        .replaceAll(world.landed.failed.signature, 'SIGNATURE')}`
    const value = message.method === undefined ? message : message.params
    heard.set(name, [...(heard.get(name) ?? []), value])
  })
  await once(socket, 'open')
  for (const [id, [method, params]] of requests.entries()) {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) }))
  }
  await world.transfer()
  const wanted = ['account', 'program', 'logs', 'signature', 'slot', 'root'].map(
    (each) => `${each}Notification`
  )
  await until(
    () => wanted.every((name) => heard.has(name)),
    () => `of ${wanted.join()} came ${[...heard.keys()].join()}`
  )
  socket.terminate()
  return heard
}
