import t from 'tap'
import { sendToRealLeader } from '../node/real-leader.ts'
import { closeConnection } from '../node/web3-flows.ts'
import { testWithValidator } from '../node/real-validator.ts'

testWithValidator(t, 'on a real node', async (t, validator) => {
  t.teardown(() => closeConnection(validator.connection))
  await t.test('transactions land that were sent to the leader alone', (t) => sendToRealLeader(t, validator))
})
