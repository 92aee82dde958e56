/**
 * Counts the calls in a started service, which loads this module before its own: `--import`, and the port of a
 * `WorkReader` in LOOP_WORK_PORT. The command line and the code of the service are those of a user.
 */
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { isMainThread } from 'node:worker_threads'
import { LoopWork } from './loop-work.ts'

/** Short enough that the calls of turns that are taken together are fewer than those of a slice, on any machine. */
const TOGETHER_MS = 0.5

// Other threads have loops of their own.
if (isMainThread) {
  const work = LoopWork.start({ teardown: () => undefined }, { togetherMs: TOGETHER_MS })
  const socket = connect({ host: '127.0.0.1', port: Number(process.env['LOOP_WORK_PORT']) })
  socket.unref()
  let end: (() => void) | null = null
  createInterface(socket).on('line', (line) => {
    if (line === 'end') return end?.()
    const ended = Promise.withResolvers<void>()
    end = ended.resolve
    void work.dearestTurn(() => ended.promise).then((turn) => socket.write(`${JSON.stringify(turn)}\n`))
    socket.write('"begun"\n')
  })
}
