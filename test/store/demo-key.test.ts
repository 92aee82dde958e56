import t from 'tap'
import { configOf } from '../../src/configuration.ts'
import { hasDemoKey } from '../../src/store/product.ts'

/** Returns whether an empty store gets a demo key with these settings. */
function demoKeyWith(environment: Readonly<Record<string, string>>): boolean {
  const reading = configOf({}, environment)
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  return hasDemoKey(reading.config)
}

const LOCALNET = { MILLRACE_SOURCE: 'localnet' }
const CLUSTER = { MILLRACE_STORAGE: 'scylla' }

t.test('a localnet on a cluster has no demo key unless the operator asks for one', async (t) => {
  t.equal(demoKeyWith(LOCALNET), true)
  t.equal(demoKeyWith({ ...LOCALNET, MILLRACE_DEMO_KEY: 'false' }), false)
  t.equal(demoKeyWith({ ...LOCALNET, ...CLUSTER }), false, 'every gateway would accept it')
  t.equal(demoKeyWith({ ...LOCALNET, ...CLUSTER, MILLRACE_DEMO_KEY: 'true' }), true)
  t.equal(
    demoKeyWith({ MILLRACE_SOURCE: 'recorded', MILLRACE_RECORDED_DIR: '.', MILLRACE_DEMO_KEY: 'true' }),
    false
  )
})
