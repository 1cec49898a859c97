export { type IoRedisClient, type NodeRedisClient, type RedisClient, type RedisStoreOptions, redisStore } from '../stores/redis/redis.js';
