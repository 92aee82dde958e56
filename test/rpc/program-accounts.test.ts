import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { VOTE } from '../../src/localnet/programs.ts'
import { programsIn, PROGRAMS_PARTITION, type MirrorProgress } from '../../src/program-accounts/program.ts'
import { Whitelist } from '../../src/program-accounts/whitelist.ts'
import { MirroredAccounts } from '../../src/rpc/mirrored-accounts.ts'
import { parseRequest } from '../../src/rpc/requests.ts'
import type { Storage } from '../../storage/port.ts'
import { marketApp } from '../http/market-app.ts'
import { ownDirectory } from '../own-directory.ts'
import { callerWith, fakeRpc, fakeUpstreams, resultOf } from './fake-rpc.ts'
import { PLAIN_PROGRAM, SAMPLE_ACCOUNTS, SAMPLE_REQUESTS, TOKEN_2022_PROGRAM } from './sample-accounts.ts'

/** Answers of Agave's test validator 4.2.1, whose genesis had the sample accounts. */
const NODE_ANSWERS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'sample-accounts.json'), 'utf8')
) as readonly Answer[]
const VOTE_PROGRAM = encodeBase58(VOTE)

interface Row {
  readonly pubkey: string
  readonly account: { readonly data: unknown }
}

interface Answer {
  readonly result?: readonly Row[] | { readonly context: object; readonly value: readonly Row[] }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object }
}

async function mirrorProgram(
  { documents, programAccounts }: Storage,
  program: string,
  progress: Partial<MirrorProgress>
) {
  await new Whitelist(documents).add(program, 0)
  const stored = (await programsIn(documents).get(PROGRAMS_PARTITION, [program]))!
  const all = { slot: 10, oldestSlot: 0, accounts: 1, atMs: 0, reason: null, indexes: [], ...progress }
  await programsIn(documents).putHot(stored, 1, all)
  return async (slot: number, address: Uint8Array, data: Uint8Array | null) => {
    const account = data && { lamports: 5_000_000n, executable: false, rentEpoch: 0n, data }
    await programAccounts.put(pubkeyFromBase58(program), [{ address, slot, account }], [])
  }
}

async function openGateway(t: Test) {
  // The accounts lie beside the store, where the test's directory does not reach.
  const { storage } = await marketApp(t, undefined, { directory: join(ownDirectory(t), 'store') })
  const finalized: { slot: number | null } = { slot: 10 }
  const accounts = new MirroredAccounts(storage, () => undefined, { newest: () => finalized.slot })
  const upstreams = fakeUpstreams(() => resultOf('["of a node"]'))
  const { gateway } = fakeRpc(upstreams, [], accounts)
  const ask = async (program: string, config?: object) => {
    const params = config === undefined ? [program] : [program, config]
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getProgramAccounts', params })
    const signal = new AbortController().signal
    const caller = callerWith(['rpc:read'])
    const request = parseRequest(Buffer.from(body), 100)
    const reply = await gateway.answer(request, { caller, batchMax: 100, tracks: false, signal })
    const pieces: Buffer[] = []
    if (Buffer.isBuffer(reply.body)) pieces.push(reply.body)
    else for await (const piece of reply.body!) pieces.push(piece)
    return { reply, answer: JSON.parse(Buffer.concat(pieces).toString()) as Answer }
  }
  return { storage, finalized, upstreams, ask }
}

t.test('each answer is row by row that of a real node', async (t) => {
  const { storage, ask, upstreams } = await openGateway(t)
  const progress = { slot: 10, exactFrom: 0, apiVersion: '4.2.1' }
  for (const program of new Set(SAMPLE_ACCOUNTS.map((each) => each.program))) {
    const put = await mirrorProgram(storage, program, progress)
    for (const { address, data } of SAMPLE_ACCOUNTS.filter((each) => each.program === program))
      await put(1, address, data)
  }
  t.equal(SAMPLE_REQUESTS.length, NODE_ANSWERS.length)
  for (const [i, [program, config]] of SAMPLE_REQUESTS.entries()) {
    const { answer } = await ask(program, config)
    t.strictSame(
      normalised(answer),
      normalised(NODE_ANSWERS[i]!),
      `${program} ${JSON.stringify(config ?? null)}`
    )
  }
  t.same(upstreams.calls, [], 'all from the mirror')
})

/** Replaces slots, which differ. Rows keep their order. */
const normalised = (answer: Answer): unknown =>
  JSON.parse(JSON.stringify(answer).replace(/"(slot|contextSlot)":\d+/g, '"$1":0'))

t.test(
  'an account at finalized is as at the newest finalized slot, and at confirmed as at the newest',
  async (t) => {
    const { storage, finalized, ask } = await openGateway(t)
    const put = await mirrorProgram(storage, PLAIN_PROGRAM, { slot: 50, oldestSlot: 5, exactFrom: 12 })
    const [one, two, three] = [1, 2, 3].map((n) => new Uint8Array(32).fill(n)) as [
      Uint8Array,
      Uint8Array,
      Uint8Array
    ]
    await put(11, one, Uint8Array.of(1))
    await put(30, one, Uint8Array.of(2))
    await put(11, two, Uint8Array.of(3))
    await put(20, two, null)
    await put(40, three, Uint8Array.of(4))
    const read = async (config: object) => {
      const { answer, reply } = await ask(PLAIN_PROGRAM, { encoding: 'base64', withContext: true, ...config })
      if (answer.error !== undefined) return { ...answer.error, status: reply.status }
      const { context, value } = answer.result as { context: { slot: number }; value: readonly Row[] }
      t.equal(reply.facts.slot, context.slot)
      const data = value.map(({ account }) => Buffer.from((account.data as string[])[0]!, 'base64').join())
      return { slot: context.slot, data }
    }
    const CONFIRMED = { commitment: 'confirmed' }
    t.same(await read(CONFIRMED), { slot: 50, data: ['2', '4'] })
    finalized.slot = 35
    t.same(await read({}), { slot: 35, data: ['2'] }, 'the default is finalized')
    t.same(await read({ commitment: null }), { slot: 35, data: ['2'] })
    finalized.slot = 19
    t.same(
      await read({ commitment: 'finalized' }),
      { slot: 19, data: ['1', '3'] },
      'a closed account is still there'
    )
    t.match(await read({ minContextSlot: 20 }), { code: -32016, data: { contextSlot: 19 } })
    t.match(await read({ minContextSlot: 2 ** 63 }), { code: -32016 }, 'every u64 is a slot')
    t.match(await read({ minContextSlot: 2 ** 65 }), { code: -32602 })
    t.same(await read({ ...CONFIRMED, minContextSlot: 20 }), { slot: 50, data: ['2', '4'] })
    finalized.slot = 60
    t.same(
      await read({}),
      { slot: 50, data: ['2', '4'] },
      'a mirror that is behind has the state of its slot'
    )
    const refused = {
      code: -32603,
      status: 502,
      data: { retryable: true },
      message: /not mirrored at finalized yet/
    }
    for (const slot of [11, null]) {
      finalized.slot = slot
      t.match(await read({}), refused, `finalized is at ${slot}`)
      t.same(await read(CONFIRMED), { slot: 50, data: ['2', '4'] })
    }
  }
)

t.test('a form that only nodes make is requested from a node', async (t) => {
  const { storage, ask, upstreams } = await openGateway(t)
  await mirrorProgram(storage, VOTE_PROGRAM, {})
  const put = await mirrorProgram(storage, TOKEN_2022_PROGRAM, {})
  const parsed = { encoding: 'jsonParsed', minContextSlot: 3 }
  t.match(await ask(VOTE_PROGRAM, parsed), {
    answer: { result: ['of a node'] },
    reply: { facts: { cache: 'miss' } }
  })
  t.match(upstreams.calls, [
    { params: JSON.stringify([VOTE_PROGRAM, parsed]), commitment: 'finalized', minContextSlot: 3 }
  ])
  t.same(
    (await ask(TOKEN_2022_PROGRAM, parsed)).answer.result,
    [],
    'without accounts nothing is to be parsed'
  )
  const { data, address } = SAMPLE_ACCOUNTS.find(
    (each) => each.program === TOKEN_2022_PROGRAM && each.data.length > 165
  )!
  const extended = Uint8Array.from([...data.subarray(0, 166), 8, 0, 1, 0, 1])
  await put(1, address, extended)
  t.same((await ask(TOKEN_2022_PROGRAM, parsed)).answer.result, ['of a node'], 'an extension with a value')
  t.match(await ask(TOKEN_2022_PROGRAM, { encoding: 'base64' }), { reply: { facts: { cache: 'local' } } })
  t.equal(
    (await ask(PLAIN_PROGRAM, parsed)).reply.status,
    403,
    'a program that is not whitelisted is not requested'
  )
  t.equal(upstreams.calls.length, 2)
})
