import { useEffect, useState } from 'preact/hooks'
import { answerOf, problemOf, type Answer, type Call, type Problem } from './api.ts'
import { apiKey } from './session.ts'
import { useStore } from './store.ts'

export interface CallState<T> {
  /** The newest answer of this call; null before the first. */
  readonly answer: Answer<T> | null
  /** The failure of the newest attempt; null after a success. */
  readonly problem: Problem | null
  readonly refetch: () => void
}

/**
 * Makes a call, and repeats it every `everyMs` milliseconds while the page is visible. Failures that a repeat can heal are
 * repeated; an earlier answer stays shown meanwhile. Null makes no call.
 */
export function useAnswer<T>(call: Call | null, everyMs: number | null = null): CallState<T> {
  const key = useStore(apiKey)
  const identity = call === null ? '' : `${key} ${call.method} ${call.path}`
  const [round, setRound] = useState(0)
  const [state, setState] = useState<{
    readonly identity: string
    readonly answer: Answer<T> | null
    readonly problem: Problem | null
  }>({ identity: '', answer: null, problem: null })

  useEffect(() => {
    if (call === null || key === '') return undefined
    const controller = new AbortController()
    const { signal } = controller
    let timer = 0
    const later = (ms: number): void => {
      timer = window.setTimeout(() => void read(), ms)
    }
    const read = async (): Promise<void> => {
      if (document.hidden) return later(1_000)
      try {
        const answer = await answerOf<T>(call, signal)
        setState({ identity, answer, problem: null })
        if (everyMs !== null) later(everyMs)
      } catch (error) {
        if (signal.aborted) return
        const problem = problemOf(error)
        setState((before) => ({
          identity,
          answer: before.identity === identity ? before.answer : null,
          problem
        }))
        if (problem.isTemporary) later(Math.max(problem.repeatMs, everyMs ?? 0))
      }
    }
    void read()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [identity, everyMs, round])

  const isCurrent = state.identity === identity
  return {
    answer: isCurrent ? state.answer : null,
    problem: isCurrent ? state.problem : null,
    refetch: () => setRound((before) => before + 1)
  }
}
