import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import t from 'tap'
import { childProcess } from '../../../actors/processes/child-process.ts'
import { advance, settle, virtualClock } from '../../virtual-time.ts'

const SECOND = 1_000

/** A process of the operating system that does what a test says, run as a process of the tree. */
function running() {
  const clock = virtualClock()
  const sent: unknown[] = []
  const killed: unknown[] = []
  const child = Object.assign(new EventEmitter(), {
    ...{ pid: 77, connected: true, stdout: null, stderr: null },
    send: (message: unknown) => sent.push(message),
    kill(signal: string) {
      killed.push(signal)
      child.emit('close', null, signal)
      return true
    }
  })
  const [drain, stop] = [new AbortController(), new AbortController()]
  const run = childProcess({
    ...{ start: () => child as unknown as ChildProcess, clock },
    ...{ onStdout: () => undefined, onStderr: () => undefined, onMessage: () => undefined }
  })
  const ended = run({
    ...{ input: undefined, draining: drain.signal, signal: stop.signal },
    ...{ ready: () => undefined, gauge: () => undefined, supervises: () => undefined },
    ...{ show: () => undefined, report: () => undefined }
  })
  const how = ended.then(
    () => 'as asked',
    (error: Error) => error.message
  )
  const say = (message: string): void => void child.emit('message', { millrace: message })
  return { clock, child, sent, killed, drain, how, say }
}

t.test('a process that hangs is killed, and its end is a crash that says so', async (t) => {
  const { clock, killed, how, say } = running()
  say('ready')
  await advance(clock, 15 * SECOND)
  say('heartbeat')
  await advance(clock, 20 * SECOND - 1)
  t.same(killed, [], 'a heartbeat counts')
  await advance(clock, SECOND)
  t.same(killed, ['SIGKILL'])
  t.equal(await how, 'the process 77 hung for 20 s and was killed')
})

t.test('a process that is not ready may load for as long as it needs', async (t) => {
  const { clock, child, killed, how } = running()
  await advance(clock, 60 * SECOND)
  t.same(killed, [])
  child.emit('close', 3, null)
  t.match(await how, /^the process 77 ended/)
})

t.test('a process that drains is not watched: its drain has a limit of its own', async (t) => {
  const { clock, child, sent, killed, drain, how, say } = running()
  say('ready')
  drain.abort()
  await advance(clock, 60 * SECOND)
  t.same(killed, [])
  t.same(sent, [{ millrace: 'drain' }])
  child.emit('close', 0, null)
  await settle()
  t.equal(await how, 'as asked')
})
