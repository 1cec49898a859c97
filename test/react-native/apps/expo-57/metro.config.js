const { getDefaultConfig } = require('expo/metro-config');
const { adapted } = require('../metro.cjs');

module.exports = adapted(getDefaultConfig(__dirname), __dirname);
