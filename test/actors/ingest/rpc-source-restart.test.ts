import { pino } from 'pino'
import t from 'tap'
import { rpcSource } from '../../../actors/ingest/rpc-source.ts'
import type { ProcessScope } from '../../../actors/supervision/process.ts'
import { supervise } from '../../../actors/supervision/supervisor.ts'
import { child, supervisor } from '../../../actors/supervision/unit.ts'
import type { BlockSource } from '../../../src/node/block-source.ts'
import { systemPorts } from '../../../src/ports.ts'
import { FaultyNode, jsonChain } from '../../node/faulty-node.ts'
import { range } from '../../node/scripted-node.ts'
import { FAST } from '../../node/source-run.ts'
import { nodeAt } from '../supervision/recorder.ts'

t.test(
  'a source that is killed under its reader is restarted, and no block is lost or repeated',
  async (t) => {
    const node = await FaultyNode.start(t, jsonChain(range(1, 300)))
    node.headSlot = 50
    const source = rpcSource(
      {
        urls: [node.url],
        archiveUrls: [],
        commitment: 'confirmed',
        expectedGenesis: async () => 'genesis-a',
        onGenesis: async () => void t.fail('the genesis is known'),
        onGap: () => void t.fail('nothing is missing'),
        tuning: FAST
      },
      { ...systemPorts, logger: pino({ level: 'silent' }) }
    )
    const stored: number[] = []
    const reader = async ({ input, ready, draining }: ProcessScope<{ readonly source: BlockSource }>) => {
      ready()
      const after = stored.at(-1) ?? 0
      for await (const { block } of input.source.blocks({ after, signal: draining })) stored.push(block.slot)
    }
    const tree = supervisor('chain', 'rest_for_one', [child('source', source), child('reader', reader)])
    const running = supervise(tree, systemPorts)
    const until = async (slot: number): Promise<void> => {
      while (stored.at(-1) !== slot) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await until(50)
    node.headSlot = 300
    while (stored.at(-1)! < 60) await new Promise((resolve) => setImmediate(resolve))
    t.equal(running.kill('source'), true)
    await until(300)
    t.same(stored, range(1, 300))
    t.equal(nodeAt(running.tree(), 'source').restarts, 1)
    t.equal(nodeAt(running.tree(), 'source').gauges.nodes_healthy, 1, 'the tree shows its nodes')
    t.match(await running.drain(), { kind: 'stopped' })
  }
)
