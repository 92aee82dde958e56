import type { InnerInstruction as EngineInstruction, TransactionMetadata } from 'litesvm/dist/internal.js'
import type { ExecutionMeta, InnerGroup } from '../chain.ts'

/** Returns the engine's result of an execution, as a block records it. */
export function outcomeOf(
  outcome: TransactionMetadata
): Pick<ExecutionMeta, 'computeUnits' | 'inner' | 'logs' | 'returnData'> {
  const returned = outcome.returnData()
  const data = returned.data()
  return {
    computeUnits: outcome.computeUnitsConsumed(),
    inner: innerGroups(outcome.innerInstructions()),
    logs: outcome.logs(),
    returnData: data.length === 0 ? null : { program: returned.programId(), data }
  }
}

/** Returns inner instructions by outer one; outer instructions without calls have no group. */
function innerGroups(groups: readonly (readonly EngineInstruction[])[]): InnerGroup[] {
  return groups.flatMap((instructions, index) => {
    if (instructions.length === 0) return []
    return {
      index,
      instructions: instructions.map((inner) => {
        const called = inner.instruction()
        return {
          programIndex: called.programIdIndex(),
          accounts: Array.from(called.accounts()),
          data: called.data(),
          stackHeight: inner.stackHeight()
        }
      })
    }
  })
}
