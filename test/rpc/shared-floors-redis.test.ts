import t from 'tap'
import { RedisSlotFloors } from '../../storage/redis/slot-floors.ts'
import { testWithRedis } from '../servers/redis.ts'
import { joinService } from '../storage/redis-processes.ts'
import { backstepsOf } from './floor-gateways.ts'

testWithRedis(
  t,
  'over Redis, none of 327 reads that alternate between two gateways goes back in slot',
  async (t, redis) => {
    const [one, two] = [await joinService(t, redis), await joinService(t, redis)]
    const floors = [new RedisSlotFloors(one), new RedisSlotFloors(two)]
    t.equal(await backstepsOf(() => floors.pop()!), 0)
  }
)
