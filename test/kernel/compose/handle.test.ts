import t from 'tap'
import { Handle, viewOf } from '../../../src/kernel/compose/handle.ts'
import { ERRORS } from '../../../src/kernel/errors.ts'

const RESTARTING = { name: 'ServiceError', kind: ERRORS.RESTARTING, message: 'the nodes restart; retry' }

t.test('a view reads keys of the current resource, and refuses while it restarts', async (t) => {
  const handle = new Handle<{ readonly urls: readonly string[]; readonly isOpen: boolean }>('the nodes')
  const view = handle.view(['urls'], { limit: 3 })
  t.equal(view.limit, 3)
  t.throws(() => view.urls, RESTARTING)
  handle.set({ urls: ['a'], isOpen: true })
  t.strictSame(view.urls, ['a'])
  t.strictSame(Object.keys(view), ['limit', 'urls'])
  handle.set(null)
  t.throws(() => view.urls, RESTARTING)
  handle.set({ urls: ['b'], isOpen: true })
  t.strictSame(view.urls, ['b'], 'of the new resource')
})

t.test('a view of handles reads each resource, and what is beside it', async (t) => {
  const nodes = new Handle<string>('the nodes')
  const pools = new Handle<number>('the pools')
  let reads = 0
  const view = viewOf(
    { nodes, pools },
    {
      get reads() {
        return ++reads
      }
    }
  )
  pools.set(7)
  t.equal(view.pools, 7)
  t.throws(() => view.nodes, RESTARTING)
  nodes.set('n')
  t.equal(view.nodes, 'n')
  t.strictSame([view.reads, view.reads], [1, 2], 'its own getters stay getters')
})
