import { h, type JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Milliseconds in which a number moves to its new value: the interval of its calls, so that it moves evenly. */
const MOVE_MS = 1_800
const isStill = matchMedia('(prefers-reduced-motion: reduce)')

/** A number that moves to each new value instead of jumping. Screen readers get the value itself. */
export function CountUp({
  value,
  text
}: {
  readonly value: number
  readonly text: (value: number) => string
}): JSX.Element {
  const [shown, setShown] = useState(value)
  useEffect(() => {
    if (isStill.matches || shown === value) {
      setShown(value)
      return undefined
    }
    const from = shown
    const beganMs = performance.now()
    let frame = 0
    const step = (nowMs: number): void => {
      const part = Math.min(1, (nowMs - beganMs) / MOVE_MS)
      setShown(from + (value - from) * part)
      if (part < 1) frame = requestAnimationFrame(step)
    }
    frame = requestAnimationFrame(step)
    return () => cancelAnimationFrame(frame)
  }, [value])
  return h('span', { class: 'count-up' }, text(shown))
}
