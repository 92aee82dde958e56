import { useState } from 'preact/hooks'
import { answerOf, problemOf, type Call, type Problem } from './api.ts'

export interface Action<T> {
  readonly isRunning: boolean
  /** The answer of the last run; null before it and after a failure. */
  readonly done: T | null
  readonly problem: Problem | null
  readonly run: (call: Call) => void
}

/** Makes a call when somebody asks for it, once at a time. `onDone` runs after a success. */
export function useAction<T>(onDone: (answer: T) => void = () => undefined): Action<T> {
  const [state, setState] = useState<Omit<Action<T>, 'run'>>({ isRunning: false, done: null, problem: null })
  const run = (call: Call): void => {
    if (state.isRunning) return
    setState({ isRunning: true, done: null, problem: null })
    answerOf<T>(call).then(
      ({ body }) => {
        setState({ isRunning: false, done: body, problem: null })
        onDone(body)
      },
      (error: unknown) => setState({ isRunning: false, done: null, problem: problemOf(error) })
    )
  }
  return { ...state, run }
}
