import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openLocalnet } from '../../src/localnet/localnet.ts'
import { systemPorts } from '../../src/ports.ts'
import { localnetDirectory } from '../../src/ingest/sources.ts'
import { ownDirectory } from '../own-directory.ts'
import { slotOf, until } from './asking.ts'
import { makeBusyLocalnet, startLocalnetProcess } from './localnet-process.ts'
import { runMillrace } from './service-process.ts'

/** Minimum number of slots of each run of the service. */
const SLOTS = 25

/** Runs the service on a data folder past a slot. Returns the newest slot that was stored when it was told to end. */
async function live(t: Test, dataDir: string, from: number): Promise<number> {
  const service = await startLocalnetProcess(t, dataDir, ['--localnet-slot-ms', '100'])
  const head = await until(async () => {
    const slot = await slotOf(service)
    return slot >= from + SLOTS && slot
  }, 'the chain goes on')
  t.match(await service.end('SIGTERM'), { code: 0 })
  return head
}

/** Starts the service, which must exit without a signal. Returns the line with the reason. */
async function refusalOf(t: Test, dataDir: string): Promise<string> {
  const { stdout, stderr, code } = await runMillrace([
    ...['serve', '--data-dir', dataDir, '--port', '0', '--log-format', 'json']
  ])
  t.equal(code, 1)
  t.notMatch(stdout, /listening/)
  t.notMatch(stderr, /"stack"|\n\s+at /, 'no stack trace')
  const told = stderr.split('\n').filter((line) => line.startsWith('millrace: '))
  t.equal(told.length, 1, 'one line')
  return told[0]!
}

/** Advances the chain of a data folder to a slot, without the service. */
async function goOn(dataDir: string, slot: number): Promise<void> {
  const onFault = (fault: unknown): never => {
    throw fault
  }
  const place = { directory: localnetDirectory({ dataDir }), host: '127.0.0.1', port: 0 }
  const net = await openLocalnet({ ...place, clock: systemPorts.clock, slotMs: 20, onFault })
  const end = new AbortController()
  const running = net.run(end.signal)
  await until(async () => net.bank.slot('finalized') > slot, 'the chain has passed the store')
  end.abort()
  await running
  await net.close()
}

t.test('a localnet whose chain or store alone was put back', async (t) => {
  const directory = ownDirectory(t)
  const [dataDir, older] = [join(directory, 'data'), join(directory, 'older')]
  await makeBusyLocalnet(dataDir)
  const first = await live(t, dataDir, 0)
  await cp(dataDir, older, { recursive: true })
  const head = await live(t, dataDir, first)
  /** Returns a data folder with the store of one state and the chain of another. */
  const mixed = async (name: string, store: string, chain: string): Promise<string> => {
    const made = join(directory, name)
    await cp(join(store, 'store'), join(made, 'store'), { recursive: true })
    await cp(join(chain, 'localnet'), join(made, 'localnet'), { recursive: true })
    return made
  }

  await t.test(
    'with an older chain the start is refused, also once the chain has passed the store',
    async (t) => {
      const olderChain = await mixed('older-chain', dataDir, older)
      t.match(
        await refusalOf(t, olderChain),
        /chain in .*localnet does not match the store: it ends at slot \d+, before slot \d+, the newest that is stored; .*restore the whole data folder \(MILLRACE_DATA_DIR\)/
      )
      await goOn(olderChain, head + SLOTS)
      t.match(await refusalOf(t, olderChain), /it has another block than the stored one of slot \d+/)
    }
  )

  await t.test('with a chain that was made anew the start is refused', async (t) => {
    const anew = await mixed('anew', dataDir, older)
    await rm(join(anew, 'localnet'), { recursive: true })
    await makeBusyLocalnet(anew)
    t.match(
      await refusalOf(t, anew),
      /its genesis is \w+, what is stored comes from a chain with the genesis \w+/
    )
  })

  await t.test('with an older store the service starts and has every block', async (t) => {
    const olderStore = await mixed('older-store', older, dataDir)
    t.ok((await live(t, olderStore, head)) > head)
    t.match(await runMillrace(['verify', '--data-dir', olderStore]), { code: 0 })
  })
})
