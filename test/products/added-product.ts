/** Tests of a product that was added to a copy of the house (`product-recipe.test.ts`), which this runs in. */
import t from 'tap'
import { runMillrace, startProcess } from '../service/service-process.ts'
import { PATIENT, until } from '../until.ts'

t.test('the help shows its command and its setting', async (t) => {
  t.match(
    (await runMillrace(['--help'])).stdout,
    /^  block-times +Shows the mean time from block to block\.$/m
  )
  t.match((await runMillrace(['serve', '--help'])).stdout, '--block-times VALUE  [MILLRACE_BLOCK_TIMES]')
  const refused = await runMillrace(['serve', '--block-times', '1'])
  t.match(refused, { code: 2, stderr: /--block-times="1" is below 2/ })
})

t.test('a service has its unit, its metric and its route, which the command asks', async (t) => {
  const more = ['--block-times', '20', '--rpc-ws-compat-port', 'off']
  const service = await startProcess({ dataDir: t.testdir(), recordedDir: null, more })
  t.teardown(async () => {
    await service.end('SIGTERM')
  })
  const tree = await service.get('/v1/admin/tree')
  t.match(JSON.stringify(tree.body), '"block-times"')
  const seconds = async (): Promise<number> => {
    const { body } = await service.get('/metrics')
    return Number(/^millrace_block_seconds (\S+)$/m.exec(String(body['text']))?.[1])
  }
  await until(async () => (await seconds()) > 0, 'blocks are seen', PATIENT)
  const key = /demo key, shown only now: +(\S+)/.exec(service.stdout.join('\n'))?.[1] ?? ''
  const { status, body } = await service.get('/v1/block-times', key)
  t.equal(status, 200)
  t.ok(Number(body['seconds_per_block']) > 0)
  const asked = await runMillrace(['block-times', '--url', service.url, '--json', '--key', key])
  t.equal(asked.code, 0, asked.stderr)
  t.ok((JSON.parse(asked.stdout) as { seconds_per_block: number }).seconds_per_block > 0)
  t.match((await service.get('/problems/block-times-unknown')).body, {
    code: 'block_times_unknown',
    status: 503
  })
})
