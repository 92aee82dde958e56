import { join } from 'node:path'
import { Keypair, LAMPORTS_PER_SOL, VoteProgram, SystemProgram } from '@solana/web3.js'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { testWithValidator } from '../node/real-validator.ts'
import { closeConnection } from '../node/web3-flows.ts'
import { IS_LONG } from '../random-runs.ts'
import { ownDirectory } from '../own-directory.ts'
import { until } from './asking.ts'
import { ADMIN_KEY, runMillrace, startProcess } from './service-process.ts'

const VOTE = VoteProgram.programId.toBase58()
const SYSTEM = SystemProgram.programId.toBase58()
/** Where a vote account names its validator. */
const NODE_AT = 4
const ACCOUNTS = 5

// A validator takes a core for itself.
if (!IS_LONG) t.pass('only in a long run')
else
  testWithValidator(t, "a real node's accounts are mirrored, indexed and verified", async (t, validator) => {
    const { connection, url } = validator
    t.teardown(() => closeConnection(connection))
    const dataDir = join(ownDirectory(t), 'data')
    const flags = ['--source', 'rpc', '--rpc-url', url]
    const service = await startProcess({ dataDir, recordedDir: null, more: flags })
    t.teardown(async () => {
      if (service.child.exitCode === null && service.child.signalCode === null) await service.end('SIGKILL')
      if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
    })
    for (const body of [{ program: VOTE, index: [{ offset: NODE_AT, length: 32 }] }, { program: SYSTEM }]) {
      const answer = await fetch(`${service.url}/v1/admin/programs`, {
        method: 'POST',
        headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
        body: JSON.stringify(body)
      })
      t.equal(answer.status, 201, await answer.text())
    }
    const programs = async () => (await service.get('/v1/admin/programs')).body.data
    const isReady = ({ state, index }: Readonly<Record<string, unknown>>): boolean =>
      state === 'live' && (index as { state: string }[]).every((each) => each.state === 'ready')
    await until(async () => (await programs()).every(isReady), 'both programs are mirrored')
    // Accounts come, and the vote account changes in each slot.
    const keys = Array.from({ length: ACCOUNTS }, () => Keypair.generate().publicKey)
    await Promise.all(keys.map(async (key) => connection.requestAirdrop(key, LAMPORTS_PER_SOL)))
    const listed = async (program: string, query: string) =>
      (await service.get(`/v1/programs/${program}/accounts?${query}`)).body
    const addresses = async (program: string): Promise<readonly unknown[]> =>
      (await listed(program, 'limit=1000')).data.map(({ pubkey }) => pubkey)
    await until(async () => {
      const there = await addresses(SYSTEM)
      return keys.every((key) => there.includes(key.toBase58()))
    }, 'the new accounts are mirrored')
    const [vote] = (await connection.getVoteAccounts()).current
    const found = await listed(VOTE, `memcmp=${NODE_AT}:${vote!.nodePubkey}`)
    t.match(found, { selected_by: 'index', data: [{ pubkey: vote!.votePubkey }] })
    t.match(await listed(VOTE, `memcmp=${NODE_AT}:${encodeBase58(new Uint8Array(32).fill(9))}`), { data: [] })
    const { code, stdout, stderr } = await runMillrace([
      'verify',
      '--accounts',
      '--rpc-url',
      url,
      '--data-dir',
      dataDir
    ])
    t.equal(code, 0, stdout + stderr)
    t.match(stderr, /of 2 programs compared, 0 differences, 0 programs not compared/)
  })
