/**
 * Preloaded into a service (`node --import`). Its clock runs faster than the machine's, and starts ahead of it, so that a
 * localnet's day of slots has a day of block times. A timer of a second or more keeps its length, because it watches over
 * something that takes machine time. Answers every message with its time; after the message `usual` the clock runs at normal
 * speed.
 *
 * CLOCK_SCALE: times as fast; 1 by default. CLOCK_AHEAD_MS: start ahead of the machine's clock; 0 by default.
 */
const { CLOCK_SCALE = '1', CLOCK_AHEAD_MS = '0' } = process.env
const SCALED_TIMER_MAX_MS = 1_000
/** Maximum step of the clock: a process that was not scheduled for a while finds its chain a few slots late, no more. */
const STEP_MAX_MS = 2_000

let scale = Number(CLOCK_SCALE)
let now = Date.now() + Number(CLOCK_AHEAD_MS)
let lookedAt = performance.now()

Date.now = () => {
  const at = performance.now()
  // The machine's time is never cut, or the clock would fall behind it.
  now += scale === 1 ? at - lookedAt : Math.min((at - lookedAt) * scale, STEP_MAX_MS)
  lookedAt = at
  return Math.floor(now)
}

const setTimer = globalThis.setTimeout
globalThis.setTimeout = Object.assign(
  (run: () => void, ms: number, ...rest: []) =>
    setTimer(run, ms < SCALED_TIMER_MAX_MS ? ms / scale : ms, ...rest),
  setTimer
)

process.on('message', (message) => {
  const at = Date.now()
  if (message === 'usual') scale = 1
  process.send?.(at)
})
process.channel?.unref()
